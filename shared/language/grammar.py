"""The schema of a catalogue's section `[language]`: how to detect and understand a language."""

import re
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def _split(words: Any) -> Any:
    return words.split() if isinstance(words, str) else words


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


#: Words with spaces between them, phrases as a list, and a regular expression.
Words = Annotated[frozenset[str], BeforeValidator(_split)]
Phrases = tuple[Annotated[str, Field(min_length=1)], ...]
Regex = Annotated[str, AfterValidator(_compiles)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Courtesies(_Section):
    """Phrases that greet, thank or agree. `courtesies.py` combines them."""

    lead: Phrases
    opens: Phrases
    goes_on: Phrases
    greetings: Phrases
    agreement: Phrases


class Pointing(_Section):
    """How people point at an item of a list. `pointing.py` explains the placeholders in `patterns`."""

    ordinals: tuple[Words, ...]
    cardinals: tuple[Words, ...]
    last: Words
    suffixes: Words
    nouns: Words
    patterns: tuple[Regex, ...]


class Unclear(_Section):
    """What makes a message unclear to somebody who reads nothing else. `follow_ups.py` uses it."""

    refers: Phrases
    begins: Phrases
    generic: Words


class Grammar(_Section):
    """How to detect and understand a language. The comments in `en.toml` explain each key."""

    letters: Regex
    function_words: Words
    asking_words: Words
    asking_phrases: Words
    elided: Words
    abbreviations: Words
    question_endings: Words
    yes: Words
    query: Annotated[str, Field(pattern=r"^[^{}]*\{question\}[^{}]*\{words\}[^{}]*$")]
    between: str
    quotes: tuple[Annotated[str, Field(min_length=2, max_length=2)], ...]
    label: Regex
    courtesies: Courtesies
    pointing: Pointing
    unclear: Unclear

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """The words that say nothing about the subject of a text."""
        return self.function_words | self.asking_words
