"""The kind of thing that a question asks for (a time, money, a person …), and whether a sentence has one.

A passage on the right topic does not answer "when?" if it has no date. The kinds are few and wide, because a
wrong kind would refuse a good answer.
"""

import re
from dataclasses import dataclass

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_UNIT = "(?:seconds|minutes?|hours?|days?|weeks?|months?|years?|秒|分|時間|営業日|日|週|か月|年)"
_DURATION = (
    rf"(?:\d|\b(?:an?|one|two|three|four|five|six|ten|same|next)\b)[\d,.\s〜~–-]*(?:business\s+)?{_UNIT}"
    r"|\b(?:at once|immediately|automatically|instantly|until|permanent|always|as long as|never)\b"
    r"|当日|翌|即|すぐ|直後|自動|無期限|全期間"
)
_DATE = (
    rf"\d(?:st|nd|rd|th)\b|\d+[日月]|[月火水木金土日]曜|毎[日週月年]|\b{_WEEKDAY}\b|\b(?:every|daily|weekdays?)\b"
    rf"|\b\d+ {_MONTH}\b"
)
_MOMENT = (
    rf"{_DURATION}|{_DATE}|\b{_MONTH}\b|\d:\d\d|\d時|毎[晩朝]|四半期|ごと|まで|前|後"
    r"|\b(?:after|before|once|as soon as|when|weekly|monthly)\b"
)
_MONEY = (
    r"\d[\d,.]*\s*(?:yen|dollars?|euros?|percent)|[¥$€]\s*\d"
    r"|\b(?:free|no charge|pays?|paid|costs? (?:extra|nothing))\b"
    r"|\d[万億]?円|無料|負担|有料|全額|かかりません"
)
_PERSON = (
    r"\b(?:managers?|heads?|departments?|teams?|desks?|owners?|hosts?|officers?|delegates?|employees?|people"
    r"|persons?|members?|colleagues?|contractors?|guests?|visitors?|technicians?|reception|security|resources"
    r"|affairs|finance|legal|operations|everyone|everybody|nobody|anyone|you|mr|ms|buddy|assistants?|users?"
    r"|administrators?|interns?|group)\b"
    r"|部|課|上長|ヘルプデスク|担当|所有者|主催者|社員|役員|本人|さん|氏|方|者|同僚|チーム|会社"
)
_FREQUENCY = (
    r"\b(?:every|each|once|twice|daily|weekly|monthly|yearly|never|always|times)\b"
    r"|\ba (?:day|week|month|year)\b|ごと|毎"
)
_COUNT_OF_PEOPLE = (
    r"\d\s+(?:\w+\s+){0,2}(?:people|persons?|seats?|members?|users?|viewers?|guests?|visitors?|participants?"
    r"|employees?|colleagues?)\b|\b(?:one|no) person\b|\b(?:everybody|everyone|nobody)\b"
)
_NUMBER = r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|no|none|both)\b"

#: Patterns for questions that ask for a kind, and for sentences that have one. The first match counts.
_KINDS = (
    (r"\b(?:who|whom|whose)\b|誰|だれ|どなた", _PERSON),
    (r"\b(?:phone|telephone|fax) numbers?\b|電話番号|内線番号", r"\d[\d-]{3,}"),
    (r"\b(?:which|what) (?:day|date|weekday)\b|何曜日", _DATE),
    (r"\bwhen (?:was|were|did)\b", rf"\b(?:19|20)\d\d\b|{_DATE}"),
    (r"\bhow often\b|頻度", _FREQUENCY),
    (
        r"\bhow (?:long|soon|quickly|fast)\b"
        r"|(?:どれ|どの)(?:くらい|ぐらい).{0,4}(?:時間|かか|待)|期間|所要時間",
        rf"{_DURATION}|\d\s*[kMG]?(?:bit|bps)",
    ),
    (
        r"\bhow much (?:is|are|does|do|did|will|would|must|can|money)\b|\b(?:costs?|prices?|fees?)\b"
        r"|いくら(?!でも)|料金|費用|値段|価格|手数料|お金",
        _MONEY,
    ),
    (
        r"\bwhen (?:is|are|do|does|can|could|will|would|must|should|may|has|have)\b"
        r"|\b(?:until|by|since|from) when\b|\bwhat time\b"
        r"|いつ(?!も)|何時(?!間)|期限(?!が?切れ|を過ぎ)|受付時間",
        _MOMENT,
    ),
    (
        r"\bhow many (?:people|persons|colleagues|employees|guests|visitors|participants|users)\b",
        _COUNT_OF_PEOPLE,
    ),
    (r"\bhow heavy\b|\bweigh(?:s|t)?\b|重さ|重量", r"\d\s*(?:k?g(?![a-z])|kilo|gram|pounds?|キロ|グラム)"),
    (
        r"\bhow (?:many|much|big|large|tall|wide|far|old)\b|\b(?:maximum|limit)\b"
        r"|いくつ|容量|上限|サイズ|大きさ|広さ|人数",
        _NUMBER,
    ),
)
_COUNTED = re.compile(
    r"何\s*(人|名|席|台|個|つ|枚|回|文字|桁|階|件|通|種|ページ|年|か月|ヶ月|週|営業日|日(?!曜)|時間|分|秒|[MGTK]B|kg|円)",
    re.IGNORECASE,
)
#: Other words that may follow the number in an answer to a question with this counter.
_COUNTED_AS = {
    "人": "人|名|席", "名": "人|名|席", "個": "個|つ|件", "通": "通|件", "種": "種|つ", "文字": "文字|桁",
    "桁": "文字|桁", "年": "年|か月|ヶ月", "か月": "か月|ヶ月|週|日|年", "ヶ月": "か月|ヶ月|週|日|年",
    "週": "週|日|か月", "日": "日|週|か月|時間", "営業日": "日|週|か月|時間", "時間": "時間|分|日",
    "分": "分|時間|秒", "秒": "秒|分", "MB": "[KMGT]B", "GB": "[KMGT]B",
}  # fmt: skip
ASKS_HOW = re.compile(
    r"\bhow (?:do|can|to|should|would)\b|方法|手順|[りい]方|どうやって|どうすれば", re.IGNORECASE
)


@dataclass(frozen=True)
class AnswerType:
    """A kind of thing, and the pattern by which a text shows it."""

    shown_by: re.Pattern[str]

    def in_text(self, text: str) -> bool:
        """Whether the text has a thing of this kind."""
        return self.shown_by.search(text) is not None


_ASKED = [
    (re.compile(asked, re.IGNORECASE), AnswerType(re.compile(shown_by, re.IGNORECASE)))
    for asked, shown_by in _KINDS
]


def asked_for(question: str) -> AnswerType | None:
    """The kind of thing a question asks for. None if any sentence may answer it, as for "how do I …?"."""
    if ASKS_HOW.search(question):
        return None
    if counted := _COUNTED.search(question):
        unit = _COUNTED_AS.get(counted[1], counted[1])
        number = rf"\d[\d,.〜~–-]*\s*(?:営業)?(?:{unit})|当日|翌|無制限|いくつでも"
        return AnswerType(re.compile(number, re.IGNORECASE))
    return next((kind for asked, kind in _ASKED if asked.search(question)), None)


def without_counter(question: str) -> str:
    """The question without its counter: 何人入れますか is about 入れ, not about 人."""
    return _COUNTED.sub(" ", question)
