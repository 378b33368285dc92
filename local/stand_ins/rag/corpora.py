"""The corpora and their files, in one SQLite file.

The corpus `local` holds the articles of a folder from the start, as if they had been imported from a bucket.
It reads them again at every start: a file that is deleted from this corpus, but not from the folder, comes
back.
"""

import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from local.stand_ins.database import opened
from local.stand_ins.rag.chunks import articles_of_folder, chunks_of
from local.stand_ins.rag.index import Index

#: The corpus of the folder. It exists in every project and location.
LOCAL = "local"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS corpora (
    id TEXT NOT NULL PRIMARY KEY, parent TEXT NOT NULL, display_name TEXT NOT NULL, description TEXT NOT NULL,
    model TEXT NOT NULL, created INTEGER NOT NULL  -- microseconds since 1970
);
CREATE TABLE IF NOT EXISTS files (
    id TEXT NOT NULL PRIMARY KEY, corpus TEXT NOT NULL, uri TEXT NOT NULL, text TEXT NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL
);
"""


@dataclass(frozen=True)
class Corpus:
    """A corpus; `model` is the resource name of its embedding model. `created` is in microseconds."""

    id: str
    parent: str
    display_name: str
    description: str
    model: str
    created: int


@dataclass(frozen=True)
class File:
    """A file of a corpus: its text, and the `gs://` URI of its source. Times are in microseconds."""

    id: str
    corpus: str
    uri: str
    text: str
    created: int
    updated: int


class Corpora:
    """The corpora of all locations, each with its index. Open it before use; one process at a time."""

    def __init__(self, state: Path | None, folder: Path) -> None:
        """Raises FileNotFoundError or ValueError if the articles of `folder` cannot be read."""
        self._state = state
        self._articles = articles_of_folder(folder)
        self._corpora: dict[str, Corpus] = {}
        self._files: dict[str, File] = {}
        #: The index of each corpus. The one of `local` exists before the state is opened.
        self.indexes = {LOCAL: Index([])}

    def open(self) -> None:
        """Open the file, or create it. Raises OSError if it is in use or not ours."""
        self._database = opened(self._state, _SCHEMA)
        self._load()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def corpus(self, corpus_id: str, parent: str) -> Corpus | None:
        """A corpus of this location, or None."""
        found = self._corpora.get(corpus_id)
        if found is not None and corpus_id == LOCAL:
            return replace(found, parent=parent)
        return found if found is not None and found.parent == parent else None

    def of(self, parent: str) -> list[Corpus]:
        """The corpora of a location, oldest first."""
        found = [corpus for key in self._corpora if (corpus := self.corpus(key, parent))]
        return sorted(found, key=lambda corpus: corpus.created)

    def create(self, parent: str, display_name: str, description: str, model: str) -> Corpus:
        """Create a corpus. Names need not be unique."""
        created = _now()
        corpus = Corpus(str(created), parent, display_name, description, model, created)
        row = (corpus.id, parent, display_name, description, model, created)
        self._database.execute("INSERT INTO corpora VALUES (?, ?, ?, ?, ?, ?)", row)
        self._corpora[corpus.id] = corpus
        self.indexes[corpus.id] = Index([])
        return corpus

    def files(self, corpus_id: str) -> list[File]:
        """The files of a corpus, ordered by URI."""
        found = [file for file in self._files.values() if file.corpus == corpus_id]
        return sorted(found, key=lambda file: (file.uri, file.created))

    def put(self, corpus_id: str, uri: str, text: str) -> bool:
        """Add a file with this text and URI. False if the newest file of the URI already has this text.

        Older files of the URI stay: the caller must delete them. Search finds the new file after `index`.
        """
        before = self._newest(corpus_id, uri)
        if before is not None and before.text == text:
            return False
        now = _now()
        new = File(str(now), corpus_id, uri, text, now, now)
        row = (new.id, corpus_id, uri, text, now, now)
        self._database.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", row)
        self._files[new.id] = new
        return True

    def delete(self, file_id: str) -> None:
        """Delete a file. Search still finds it until `index`."""
        self._database.execute("DELETE FROM files WHERE id = ?", (file_id,))
        self._files.pop(file_id, None)

    def index(self, corpus_id: str) -> None:
        """Let search find the current files of the corpus."""
        files = self.files(corpus_id)
        self.indexes[corpus_id].fill([chunk for file in files for chunk in chunks_of(file.uri, file.text)])

    def article(self, uri: str) -> str | None:
        """The text of a URI in the corpus `local`, or None."""
        file = self._newest(LOCAL, uri)
        return file.text if file else None

    def _newest(self, corpus_id: str, uri: str) -> File | None:
        files = (file for file in self._files.values() if file.corpus == corpus_id and file.uri == uri)
        return max(files, key=lambda file: file.updated, default=None)

    def _load(self) -> None:
        for row in self._database.execute("SELECT * FROM corpora"):
            self._corpora[row[0]] = Corpus(*row)
            self.indexes[row[0]] = Index([])
        oldest = min((article.changed for article in self._articles), default=0)
        self._corpora[LOCAL] = Corpus(LOCAL, "", LOCAL, "The articles in knowledge/", "", oldest)
        for row in self._database.execute("SELECT * FROM files").fetchall():
            self._files[row[0]] = File(*row)
        self._files |= {file.id: file for file in self._of_the_folder()}
        for corpus_id in self.indexes:
            self.index(corpus_id)

    def _of_the_folder(self) -> Iterator[File]:
        """The articles of the folder, except those with a newer imported version."""
        for article in self._articles:
            while (before := self._newest(LOCAL, article.uri)) and before.updated < article.changed:
                self.delete(before.id)
            if before is None:
                # The same id at every start, and never one that `put` gives.
                file_id, changed = str(zlib.crc32(article.uri.encode())), article.changed
                yield File(file_id, LOCAL, article.uri, article.markdown, changed, changed)


_latest = 0


def _now() -> int:
    """Microseconds since 1970, larger than all before. New resources use it as their id, too."""
    global _latest  # noqa: PLW0603 - one clock for the process
    _latest = max(_latest + 1, time.time_ns() // 1000)
    return _latest
