"""One catalogue for each language, `catalogues/<code>.toml`: the texts of the bot, and the grammar.

To add a language, add a file with the keys of `en.toml` (CONTRIBUTING.md). No file is read at import.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import NoDecode

from shared.language.grammar import Grammar
from shared.messages.envelope import Language
from shared.runtime.settings import listed

ENGLISH = "en"
#: The section with the grammar. The other sections are texts.
_GRAMMAR = "language"
_FOLDER = Path(__file__).parent / "catalogues"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class CatalogueInvalid(Exception):
    """A catalogue cannot be used. The text names the file and every wrong key."""


@dataclass(frozen=True)
class Catalogue:
    """The texts of a language, by section and key, and its grammar."""

    texts: Mapping[str, Mapping[str, str]]
    grammar: Grammar


@cache
def languages() -> tuple[Language, ...]:
    """The languages that have a catalogue, as ISO 639 codes: English first, the others sorted."""
    return tuple(
        sorted((path.stem for path in _FOLDER.glob("*.toml")), key=lambda each: (each != ENGLISH, each))
    )


@cache
def catalogue(language: Language) -> Catalogue:
    """The catalogue of one of the `languages()`. Raises CatalogueInvalid."""
    sections = _read(language)
    wrong = [*_faults_of_texts(_texts(sections), _texts(_read(ENGLISH)))]
    try:
        grammar = Grammar.model_validate(sections.get(_GRAMMAR, {}))
    except ValidationError as error:
        wrong += [f"{'.'.join(map(str, (_GRAMMAR, *each['loc'])))}: {each['msg']}" for each in error.errors()]
    if wrong:
        raise CatalogueInvalid(f"{_path(language)}: {'; '.join(wrong)}")
    return Catalogue(_texts(sections), grammar)


def check_catalogues() -> None:
    """Read every catalogue. If one cannot be used, end the process with a text that says what is wrong.

    So a deployment with a wrong catalogue fails its start-up check, and receives no messages.
    """
    try:
        for language in languages():
            catalogue(language)
    except CatalogueInvalid as error:
        sys.exit(f"cannot start: {error}")


def text(language: Language, section: str, key: str, **values: Any) -> str:
    """One text, with its `{placeholders}` filled in. It is in English if the language has no catalogue.

    Raises KeyError for an unknown key.
    """
    return _spoken(language).texts[section][key].format(**values)


def grammar(language: Language) -> Grammar:
    """The grammar of a language. It is the English one if the language has no catalogue."""
    return _spoken(language).grammar


def grammars() -> Iterator[Grammar]:
    """The grammars of all languages, the English one first."""
    return map(grammar, languages())


def _spoken(language: Language) -> Catalogue:
    return catalogue(language if language in languages() else ENGLISH)


def _path(language: Language) -> Path:
    return _FOLDER / f"{language}.toml"


@cache
def _read(language: Language) -> dict[str, Any]:
    try:
        return tomllib.loads(_path(language).read_text(encoding="utf-8"))
    except ValueError as error:
        raise CatalogueInvalid(f"{_path(language)}: {error}") from error


def _texts(sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: section for name, section in sections.items() if name != _GRAMMAR}


def _faults_of_texts(said: dict[str, Any], in_english: dict[str, Any]) -> Iterator[str]:
    """The errors in a catalogue's texts: keys and placeholders must be the same as in English."""
    given, wanted = _flat(said), _flat(in_english)
    yield from (f"{key}: missing" for key in wanted if key not in given)
    yield from (f"{key}: surplus" for key in given if key not in wanted)
    for key, value in given.items():
        if not isinstance(value, str) or not value.strip():
            yield f"{key}: not a text"
        elif key in wanted and _placeholders(value) != _placeholders(str(wanted[key])):
            yield f"{key}: must have the placeholders of the English text"


def _flat(sections: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{name}.{key}": value
        for name, section in sections.items()
        for key, value in (section if isinstance(section, dict) else {"": section}).items()
    }


def _placeholders(said: str) -> list[str]:
    return sorted(_PLACEHOLDER.findall(said))


def _known(language: str) -> str:
    if language not in languages():
        raise ValueError(f"{language!r} is none of {', '.join(languages())}")
    return language


#: A setting: one or more of the languages that have a catalogue.
Languages = Annotated[
    tuple[Annotated[str, AfterValidator(_known)], ...],
    NoDecode,
    BeforeValidator(listed),
    Field(min_length=1),
]
