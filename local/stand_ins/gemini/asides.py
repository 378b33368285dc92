"""Words of a chat that say nothing about the topic of a question (`asides.toml`)."""

import re
import tomllib
from functools import cache
from pathlib import Path

from local.stand_ins.rag.terms import terms
from shared.language.words import Word

_OKURIGANA = re.compile("[ぁ-ん]+$")


def is_aside(word: Word) -> bool:
    """Whether a word is one of these, in any of its forms ("worried", 困って, "that's")."""
    plain = word.surface.lower().split("'")[0]
    forms = {plain, _OKURIGANA.sub("", plain), *word.terms[: len(word.terms) == 1]}
    return not forms.isdisjoint(_asides())


@cache
def _asides() -> frozenset[str]:
    """The words in lower case, and the stems of the English ones."""
    groups = tomllib.loads(Path(__file__).with_name("asides.toml").read_text(encoding="utf-8"))
    texts = [text for language in groups.values() for text in language.values()]
    return frozenset(form for text in texts for form in (*text.split(), *_stems(text)))


def _stems(text: str) -> list[str]:
    return terms(text) if text.isascii() else []
