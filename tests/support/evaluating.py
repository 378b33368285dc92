"""Fixtures (as a pytest plugin) of the evaluation: passages, and a folder of data."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.data import Passage

PASSAGES = (
    Passage("vpn", "VPN", "The VPN client connects a laptop. Configure the VPN in the catalogue.", "VPN"),
    Passage(
        "mac", "VPN", "To configure the VPN on a Mac, allow the extension of the VPN client first.", "VPN"
    ),
    Passage("door", "Doors", "On a Mac, doors open with the Mac app.", "Doors"),
    Passage("food", "Canteen", "The canteen is open from noon. A Mac cheese is served daily.", "Canteen"),
)


def written(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Data as the public sets have it."""
    passages = [{"id": p.id, "title": p.title, "text": p.text} for p in PASSAGES]
    written(tmp_path, "passages", passages)
    asked = {"id": "1", "turn": 2, "history": [["user", "VPN?"], ["agent", "Yes."]], "question": "on a Mac?"}
    told = {
        "gold": ["mac"],
        "rewrite": "VPN on a Mac?",
        "answerability": "PARTIAL",
        "multi_turn": "Follow-up",
    }
    none: dict[str, Any] = {
        "gold": [],
        "rewrite": None,
        "answerability": "UNANSWERABLE",
        "multi_turn": "N/A",
        "history": [],
    }
    written(tmp_path, "tasks", [{**asked, **told}, {**asked, **none, "id": "2"}])
    return tmp_path
