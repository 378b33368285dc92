"""Corrects typing errors: finds a known word that differs by one error."""

from collections.abc import Iterable

#: Shorter words too often differ from another word by one letter.
SHORTEST = 5
SHORTEST_IN_KATAKANA = 4


def meant(word: str, known: Iterable[str]) -> str | None:
    """The first known word in the alphabet with one letter added, missing, replaced, or two swapped.

    The first letter must match, because it is rarely wrong.
    """
    written = word.lower()
    if len(written) < (SHORTEST if written.isascii() else SHORTEST_IN_KATAKANA):
        return None
    return min((each for each in known if _is_one_slip_from(written, each.lower())), default=None)


def _is_one_slip_from(written: str, right: str) -> bool:
    if written == right or written[:1] != right[:1] or abs(len(written) - len(right)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(written, right, strict=False)) if a != b), len(right))
    start = min(start, len(written))
    rest, wanted = written[start:], right[start:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return rest[1:] == wanted[1:] or rest == wanted[1:] or rest[1:] == wanted or swapped
