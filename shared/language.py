"""Which language a person is spoken to in, and which a text is written in."""

import re
from typing import cast

from shared.envelope import Language
from shared.texts import languages

#: Hiragana, katakana, kanji, and half-width katakana.
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f]")
_WORD = re.compile(r"[A-Za-z]{2,}")


def of_person(locale: str | None, text: str) -> Language:
    """The asker's language: their locale (`ja`, `ja-JP`, `en_US`) if we speak it, else the text's script."""
    spoken = re.split(r"[-_]", locale or "")[0].lower()
    if spoken in languages():
        return cast(Language, spoken)
    return "ja" if _JAPANESE.search(text) else "en"


def of_text(text: str, otherwise: Language) -> Language:
    """The language a text is written in; `otherwise` when it has too little of either (a product name)."""
    if _JAPANESE.search(text):
        return "ja"
    return "en" if len(_WORD.findall(text)) >= 3 else otherwise
