"""How RAG Engine's API names and shows corpora and files."""

import re
from pathlib import PurePosixPath
from typing import Any

from local.stand_ins.rag import protos
from local.stand_ins.rag.corpora import Corpus, File

LOCATION = re.compile(r"projects/[^/]+/locations/(?P<location>[^/]+)")
CORPUS = re.compile(rf"(?P<parent>{LOCATION.pattern})/ragCorpora/(?P<corpus>[^/]+)")
FILE = re.compile(rf"(?P<name>{CORPUS.pattern})/ragFiles/(?P<file>[^/]+)")
#: The embedding model of a corpus that names none.
DEFAULT_MODEL = "text-embedding-005"


def name_of(corpus: Corpus) -> str:
    """The resource name of a corpus."""
    return f"{corpus.parent}/ragCorpora/{corpus.id}"


def corpus_message(corpus: Corpus) -> Any:
    """A corpus as the API shows it: always ready, in the managed database."""
    message = protos.RagCorpus(
        name=name_of(corpus), display_name=corpus.display_name, description=corpus.description
    )
    message.create_time.FromMicroseconds(corpus.created)
    message.update_time.FromMicroseconds(corpus.created)
    message.corpus_status.state = protos.ACTIVE_CORPUS
    message.vector_db_config.rag_managed_db.SetInParent()
    model = message.vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint
    model.endpoint = corpus.model or f"{corpus.parent}/publishers/google/models/{DEFAULT_MODEL}"
    return message


def file_message(file: File, corpus: str) -> Any:
    """A file of the corpus of this resource name as the API shows it: always ready."""
    message = protos.RagFile(
        name=f"{corpus}/ragFiles/{file.id}",
        display_name=PurePosixPath(file.uri).name,
        gcs_source=protos.GcsSource(uris=[file.uri]),
    )
    message.create_time.FromMicroseconds(file.created)
    message.update_time.FromMicroseconds(file.updated)
    message.file_status.state = protos.ACTIVE_FILE
    return message
