"""SQLite files for the state of the stand-ins."""

import sqlite3
from pathlib import Path


def opened(state: Path | None, schema: str) -> sqlite3.Connection:
    """The database of one stand-in, created if needed; None keeps it in memory.

    Raises OSError if another process uses the file, or if it is not an SQLite file. Writes are not
    synchronous: a commit survives SIGKILL, but not a power cut.
    """
    if state is not None:
        state.parent.mkdir(parents=True, exist_ok=True)
    try:
        database = sqlite3.connect(state or ":memory:", timeout=0, isolation_level=None)
    except sqlite3.DatabaseError as error:
        raise OSError(f"Cannot use {state} ({error})") from error
    try:
        for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=OFF"):
            database.execute(f"PRAGMA {setting}")
        database.executescript(schema)
    except sqlite3.DatabaseError as error:
        database.close()
        raise OSError(f"Cannot use {state} ({error}): is another one running on it?") from error
    return database
