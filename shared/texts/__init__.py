"""What the bot says, one catalogue a language: `en.toml`, `ja.toml`. A new language is one more file."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def languages() -> tuple[str, ...]:
    """The languages there is a catalogue for, as ISO 639-1 codes."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def catalogue(language: str) -> dict[str, dict[str, str]]:
    """All texts of a language, by section and key."""
    with (_FOLDER / f"{language}.toml").open("rb") as file:
        return tomllib.load(file)


def text(language: str, section: str, key: str, **values: Any) -> str:
    """One text, with its `{placeholders}` filled in. Raises KeyError for an unknown key."""
    return catalogue(language)[section][key].format(**values)
