"""One catalogue a language, `catalogues/<code>.toml`: what the bot says in it, and how it is understood.

A new language is one more file with the keys of `en.toml` (CONTRIBUTING.md). Nothing is read at import.
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
#: The section that holds the grammar; the others are said.
_GRAMMAR = "language"
_FOLDER = Path(__file__).parent / "catalogues"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class CatalogueInvalid(Exception):
    """A catalogue cannot be used; the text names the file and every key that is wrong."""


@dataclass(frozen=True)
class Catalogue:
    """The texts of a language, by section and key, and its grammar."""

    texts: Mapping[str, Mapping[str, str]]
    grammar: Grammar


@cache
def languages() -> tuple[Language, ...]:
    """The languages there is a catalogue for, as ISO 639 codes: English first, the others in order."""
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
    """Read every catalogue. Ends the process, naming what is wrong, when one cannot be used.

    A deployment with a bad catalogue thus fails its start-up check, and no message is touched.
    """
    try:
        for language in languages():
            catalogue(language)
    except CatalogueInvalid as error:
        sys.exit(f"cannot start: {error}")


def text(language: Language, section: str, key: str, **values: Any) -> str:
    """One text, with its `{placeholders}` filled in; in English where the language has no catalogue.

    Raises KeyError for an unknown key.
    """
    return _spoken(language).texts[section][key].format(**values)


def grammar(language: Language) -> Grammar:
    """The grammar of a language; the English one where it has no catalogue."""
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
    """What is wrong with the texts of a catalogue: they must be those of the English one."""
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


#: A setting: some of the languages that there are catalogues for, at least one.
Languages = Annotated[
    tuple[Annotated[str, AfterValidator(_known)], ...],
    NoDecode,
    BeforeValidator(listed),
    Field(min_length=1),
]
