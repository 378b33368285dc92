"""What the bot says, one catalogue a language: `en.toml`, `ja.toml`. A new language is one more file.

A catalogue's `language.letters` is a regular expression for the letters that only this language has; it is
empty where there are none, and then only a person's locale tells the language.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
ENGLISH = "en"
_NOTHING = re.compile(r"(?!)")


@cache
def languages() -> tuple[str, ...]:
    """The languages there is a catalogue for, as ISO 639 codes: English first, the others in order."""
    return tuple(
        sorted((path.stem for path in _FOLDER.glob("*.toml")), key=lambda each: (each != ENGLISH, each))
    )


@cache
def catalogue(language: str) -> dict[str, dict[str, str]]:
    """All texts of a language, by section and key."""
    with (_FOLDER / f"{language}.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def letters(language: str) -> re.Pattern[str]:
    """Matches the letters that tell a language; nothing if it has none of its own."""
    pattern = catalogue(language)["language"]["letters"]
    return re.compile(pattern) if pattern else _NOTHING


def text(language: str, section: str, key: str, **values: Any) -> str:
    """One text, with its `{placeholders}` filled in; English where there is none in this language.

    Raises KeyError for an unknown key.
    """
    spoken = language if language in languages() else ENGLISH
    found = catalogue(spoken).get(section, {}).get(key) or catalogue(ENGLISH)[section][key]
    return found.format(**values)
