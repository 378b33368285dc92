"""Splits a long text into several messages: between blocks, items, lines or sentences."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from answer_fn.blocks import Block
from shared.chat.limits import MOST_UNITS_OF_PART, units

#: A model cannot write more with its limit of tokens.
MOST_PARTS = 5
_ENDS = (".", "!", "?", "。", "！", "？")


def parts_of(blocks: Iterable[Block], cut_off: str) -> list[str]:
    """The texts of the messages, in order. If there are too many, the last one ends with `cut_off`."""
    parts: list[str] = []
    current: list[Block] = []
    left = deque(blocks)
    while left:
        block = left.popleft()
        if _fit([*current, block]):
            current.append(block)
            continue
        first, rest = (None, block) if _is_better_whole(current, block) else _cut(current, block)
        left.appendleft(rest)
        carried = [] if first else _leading(current)
        parts.append(_text([*current[: len(current) - len(carried)], *([first] if first else [])]))
        current = carried
    parts += [_text(current)] if current else []
    if len(parts) > MOST_PARTS:
        return [*parts[: MOST_PARTS - 1], f"{parts[MOST_PARTS - 1]}\n\n{cut_off}"]
    return parts


def _text(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _fit(blocks: Iterable[Block]) -> bool:
    return units(_text(blocks)) <= MOST_UNITS_OF_PART


def _is_better_whole(current: Sequence[Block], block: Block) -> bool:
    """Whether to put a block whole into the next part: always for code, else if this part is half full."""
    if len(_leading(current)) == len(current) or not _fit([*_leading(current), block]):
        return False
    return bool(block.tail) or units(_text(current)) > MOST_UNITS_OF_PART // 2


def _leading(blocks: Sequence[Block]) -> list[Block]:
    """The last blocks that must stay together with the next block."""
    start = len(blocks)
    while start and blocks[start - 1].leads:
        start -= 1
    return list(blocks[start:])


def _cut(current: Sequence[Block], block: Block) -> tuple[Block | None, Block]:
    """The beginning of a block that still fits (None: nothing fits), and the rest."""

    def most(count: int, fits: Callable[[int], bool]) -> int:
        return bisect_right(range(1, count + 1), False, key=lambda number: not fits(number))

    def begin(*pieces: str) -> Block:
        return replace(block, pieces=pieces, leads=False)

    pieces = block.pieces
    count = most(len(pieces), lambda number: _fit([*current, begin(*pieces[:number])]))
    if count:
        count = _good_end(pieces, count)
        return begin(*pieces[:count]), replace(block, pieces=pieces[count:])
    if current:
        return None, block
    piece = pieces[0]
    length = most(len(piece), lambda number: _fit([begin(piece[:number])]))
    length -= piece[:length].endswith("\\")
    return begin(piece[:length]), replace(block, pieces=(piece[length:], *pieces[1:]))


def _good_end(pieces: Sequence[str], count: int) -> int:
    """The best place to cut in the second half of the pieces that fit."""
    ends = range(count, count // 2, -1)
    lines = (end for end in ends if pieces[end - 1].endswith("\n"))
    sentences = (end for end in ends if pieces[end - 1].rstrip().endswith(_ENDS))
    return next(lines, None) or next(sentences, None) or count
