"""RAG Engine's stand-in with its Cloud Storage, and the real clients on it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from google.cloud.aiplatform_v1 import types
from google.cloud.aiplatform_v1.services.vertex_rag_data_service import VertexRagDataServiceClient

from local.stand_ins.faults import Faults
from local.stand_ins.rag.corpora import Corpora
from local.stand_ins.rag.data import RagData
from local.stand_ins.rag.service import Rag
from local.stand_ins.storage.objects import Objects
from ops import clients as ops_clients
from shared.runtime import clients
from tests.support.serving import serving

PARENT = "projects/demo/locations/europe-west3"


class _Served:
    """The engine and its Cloud Storage, opened and closed with the server."""

    def __init__(self, state: Path | None, folder: Path, a_file_takes: float = 0.01) -> None:
        self.objects = Objects(state and state / "storage.sqlite")
        self.corpora = Corpora(state and state / "rag.sqlite", folder)
        self._data = RagData(self.corpora, self.objects, a_file_takes=a_file_takes)

    def handlers(self) -> list[Any]:
        return [*Rag(self.corpora).handlers(), *self._data.handlers()]

    async def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.objects.open()
        self.corpora.open()

    async def stop(self) -> None:
        await self._data.stop()
        self.corpora.close()
        self.objects.close()


class Engine:
    """What a test does with the engine."""

    def __init__(self, served: _Served, address: str) -> None:
        self.served = served
        self.data: VertexRagDataServiceClient = ops_clients.rag_data("europe-west3", address)
        self.rag = clients.rag("europe-west3", address)

    def put(self, name: str, text: str | bytes) -> str:
        content = text.encode() if isinstance(text, str) else text

        async def put() -> str:
            return self.served.objects.put("threadwise-knowledge", name, content, "text/markdown").uri

        return asyncio.run_coroutine_threadsafe(put(), self.served.loop).result(10)

    def create(self, display_name: str = "it", **changes: Any) -> str:
        request = {"parent": PARENT, "rag_corpus": {"display_name": display_name, **changes}}
        operation = self.data.create_rag_corpus(request, retry=None, timeout=5)
        return str(operation.result(timeout=10).name)

    def start_import(self, corpus: str, *uris: str, **config: Any) -> Any:
        request = {"parent": corpus, "import_rag_files_config": config or {"gcs_source": {"uris": uris}}}
        return self.data.import_rag_files(request, retry=None, timeout=5)

    def imported(self, corpus: str, *uris: str) -> tuple[int, int, int]:
        """How many files were imported, unchanged and failed."""
        done = self.start_import(corpus, *uris).result(timeout=20)
        return done.imported_rag_files_count, done.skipped_rag_files_count, done.failed_rag_files_count

    def files(self, corpus: str) -> dict[str, types.RagFile]:
        listed = self.data.list_rag_files(parent=corpus, retry=None, timeout=5)
        return {file.gcs_source.uris[0]: file for file in listed}

    def found(self, corpus: str, text: str) -> list[str]:
        """The URIs of the contexts for a query."""
        store = {"rag_resources": [{"rag_corpus": corpus}]}
        request = {"parent": PARENT, "vertex_rag_store": store, "query": {"text": text}}
        contexts = self.rag.retrieve_contexts(request, retry=None, timeout=5).contexts.contexts
        return [context.source_uri for context in contexts]


@contextmanager
def running(folder: Path, state: Path | None = None, a_file_takes: float = 0.01) -> Iterator[Engine]:
    served = _Served(state, folder, a_file_takes)
    with serving("rag", served, Faults()) as address:
        yield Engine(served, address)
