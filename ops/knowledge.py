"""Fill a corpus from a bucket, or from a folder through a bucket."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ops.articles import Folder, read_folder
from ops.audit import Operation
from ops.bucket import Bucket, Object, checksum
from ops.console import note
from ops.corpora import Corpora, Corpus, Imported, SourceFile
from ops.errors import Exit, OpsError
from ops.world import World
from shared.runtime.errors import StepError

CORPUS_NAME = re.compile(r"projects/[^/]+/locations/(?P<location>[a-z0-9-]+)/ragCorpora/[\w-]+")

UNEXPLAINED = "not imported; RAG Engine gives no reason"

OnProgress = Callable[[str, float], None]


@dataclass
class Outcome:
    """What was done. `failed` has a reason for each failure, with the URI if it is known. `gone` are files of
    the corpus that are no longer in the source."""

    counts: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    gone: list[SourceFile] = field(default_factory=list)


def corpora(world: World, location: str) -> Corpora:
    """The corpora of a location."""
    return Corpora(world.rag_data(location), world.settings.google_cloud_project, location)


def find(world: World, corpus: str, location: str) -> tuple[Corpora, Corpus]:
    """A corpus by its resource name, or by its display name in a location. Raises OpsError."""
    if match := CORPUS_NAME.fullmatch(corpus):
        there = corpora(world, match["location"])
        return there, there.get(corpus)
    there = corpora(world, location)
    found = [each for each in there.all() if each.display_name == corpus]
    if not found:
        raise OpsError(
            f"There is no corpus {corpus} in {location}. `python -m ops knowledge list` lists them, "
            f"`knowledge create --name {corpus}` creates it, and --location chooses another region.",
            Exit.NOT_FOUND,
        )
    if len(found) > 1:
        names = " ".join(each.name for each in found)
        raise OpsError(
            f"Several corpora are named {corpus}. Use one of these resource names: {names}", Exit.INVALID
        )
    return there, found[0]


@contextmanager
def audited(world: World, operation: Operation, selection: str) -> Iterator[Counter[str]]:
    """Record the start of an operation, and its end with the counts that the caller fills in.

    A corpus can be created and filled before a deployment exists. Then there is no database for the audit
    yet. The operator is told that the audit cannot be written, and the work goes on.
    """
    counts = Counter[str]()
    written = _written(lambda: world.audit.begin(operation, selection), world.where)
    yield counts
    if written:
        _written(lambda: world.audit.finish(operation, +counts), world.where)


def _written(write: Callable[[], None], where: str) -> bool:
    try:
        write()
    except StepError as error:
        note(f"The audit in {where} cannot be written ({error.reason}). Continuing without it.")
        return False
    return True


class Import:
    """One import: `source` is a folder, or None when the bucket itself is the source."""

    def __init__(self, there: Corpora, corpus: Corpus, bucket: Bucket, source: Path | None) -> None:
        self._corpora = there
        self._corpus = corpus
        self._bucket = bucket
        self._folder: Folder | None = read_folder(source) if source else None
        self._outcome = Outcome(left_out=self._folder.left_out if self._folder else {})

    def run(self, on_progress: OnProgress) -> Outcome:
        """Import new and changed files. `on_progress` gets the activity and its share (0 to 1)."""
        objects = self._bucket.objects()
        wanted = self._uploaded(objects, on_progress) if self._folder else objects
        if not wanted:
            raise OpsError(f"There is nothing to import in {self._bucket.uri}.", Exit.NOT_FOUND)
        before = self._below()
        stale = [uri for uri, each in sorted(wanted.items()) if _is_stale(each, before.get(uri, []))]
        on_progress("importing", 0.0 if stale else 1.0)
        done = self._corpora.import_files(
            self._corpus.name, stale, lambda share: on_progress("importing", share)
        )
        self._outcome.counts["imported"] = done.imported
        self._outcome.counts["unchanged"] = done.unchanged + len(wanted) - len(stale)
        after = self._below() if stale else before
        self._check(stale, after, done)
        after = self._without_old(after)
        known = {*wanted, *(f"{self._bucket.uri}/{name}" for name in self._outcome.left_out)}
        self._outcome.gone = [
            file for uri, files in sorted(after.items()) if uri not in known for file in files
        ]
        return self._outcome

    def delete_gone(self) -> int:
        """Delete files that are gone from the source. Returns how many files of the corpus."""
        gone = self._outcome.gone
        self._corpora.delete_files(file.name for file in gone)
        if self._folder:
            self._bucket.delete({file.uri for file in gone})
        return len(gone)

    def _uploaded(self, objects: Mapping[str, Object], on_progress: OnProgress) -> dict[str, Object]:
        """Upload the files that differ, and return the objects of all files in the folder."""
        assert self._folder is not None  # noqa: S101 - only called with one
        files = {f"{self._bucket.uri}/{name}": file for name, file in self._folder.files.items()}
        differing = {uri: file for uri, file in files.items() if _differs(file.path, objects.get(uri))}
        finished = Counter[str]()

        def on_file() -> None:
            finished["files"] += 1
            on_progress("uploading", finished["files"] / len(differing))

        uploaded = self._bucket.upload(differing, on_file)
        self._outcome.counts["uploaded"] = len(uploaded)
        return {uri: uploaded.get(uri) or objects[uri] for uri in files}

    def _below(self) -> dict[str, list[SourceFile]]:
        """The files of the corpus that come from the bucket's prefix, by URI, the newest first."""
        found: dict[str, list[SourceFile]] = {}
        for file in self._corpora.files(self._corpus.name):
            if file.uri and self._bucket.holds(file.uri):
                found.setdefault(file.uri, []).append(file)
        for files in found.values():
            files.sort(key=lambda file: file.updated, reverse=True)
        return found

    def _check(self, asked: Iterable[str], after: Mapping[str, list[SourceFile]], done: Imported) -> None:
        """Record files that cannot be searched. Without rights on a bucket, the service reports no error."""
        missing: dict[str, str] = {}
        for uri in asked:
            files = after.get(uri, [])
            if not any(file.active for file in files):
                told = [file.error for file in files if file.error]
                told += [reason for reason in done.reasons if uri in reason]
                missing[uri] = told[0] if told else UNEXPLAINED
        others = [reason for reason in done.reasons if not any(uri in reason for uri in missing)]
        self._outcome.failed = [*(f"{uri}: {why}" for uri, why in missing.items()), *others]
        self._outcome.counts["failed"] = max(done.failed, len(missing))

    def _without_old(self, after: Mapping[str, list[SourceFile]]) -> dict[str, list[SourceFile]]:
        """Keep only the newest file of each URI. Otherwise a search would also find the old text."""
        kept = {uri: files[:1] if files[0].active else files for uri, files in after.items()}
        old = [file for uri, files in after.items() for file in files[len(kept[uri]) :]]
        self._corpora.delete_files(file.name for file in old)
        self._outcome.counts["replaced"] = len(old)
        return kept


def _differs(path: Path, stored: Object | None) -> bool:
    if stored is None:
        return True
    content = path.read_bytes()
    return (len(content), checksum(content)) != (stored.size, stored.crc32c)


def _is_stale(stored: Object, files: list[SourceFile]) -> bool:
    """Whether the corpus may lack the object's current text."""
    return not any(file.active and file.updated > stored.updated for file in files)
