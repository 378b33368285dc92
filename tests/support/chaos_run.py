"""Chaos as its users run it, and in its tests with what the bot keeps its promise under today."""

import subprocess
import sys

from tests import ROOT

#: Left out until the end of a question is one protocol.
_LEFT_OUT = (
    # An answer is shown even where Firestore could not note it.
    "firestore-down",
    "firestore-throttled",
    # A write that Chat applies late, or that a frozen function goes on with, can cover the end.
    "chat-late",
    "*-frozen",
    # The lease under which a message is written trusts that clocks differ by less than half a second.
    "*-skewed",
    # A case can be missing when a service refuses the one call that was to keep it.
    "*-refused",
    # What is under way while a conversation is forgotten, or a question is answered anew, writes what it had.
    "forget",
    "again",
    # The sentence to a question that is too much is tried, and given up in a busy space.
    "too-*",
)
LEFT_OUT = tuple(option for name in _LEFT_OUT for option in ("--without", name))


def chaos(*options: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m chaos` with these options to its end, where given with this PATH and nothing else."""
    command = [sys.executable, "-m", "chaos", *options]
    environment = None if path is None else {"PATH": path}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
