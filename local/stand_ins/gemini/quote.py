"""A block in Markdown, word for word, with the number of its source behind each sentence, item and row."""

from local.stand_ins.gemini.passages import Block


def quoted(block: Block, source: int) -> str:
    """The block as it is quoted; code stands as it is, and the words before it have the citation."""
    citation = f" [{source}]"
    if block.kind == "code":
        return block.units[0]
    if block.kind == "table":
        rows = (f"{row.rstrip()[:-1].rstrip()}{citation} |" for row in block.units)
        return "\n".join([block.head, *rows])
    cited = [_cited(unit, citation) for unit in block.units]
    if block.kind == "steps" and len(cited) > 1:
        return "\n".join(f"{number}. {unit}" for number, unit in enumerate(cited, start=1))
    if block.kind == "paragraph" or len(cited) == 1:
        return " ".join(cited)
    return "\n".join(f"- {unit}" for unit in cited)


def _cited(unit: str, citation: str) -> str:
    """A unit with the citation behind its words: code in it stands in lines of its own."""
    words, line_break, code = unit.partition("\n")
    return f"{words}{citation}{line_break}{code}"
