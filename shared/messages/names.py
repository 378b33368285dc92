"""How Google Chat names its spaces, threads and messages, and what a name tells.

`spaces/A`, `spaces/A/threads/B` and `spaces/A/messages/C`
(developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages). Where Chat has made the name of
a message in the thread B, C is `B.D`, and `B.B` for the message that opens it (seen, not documented).
"""

import re
from typing import Annotated

from pydantic import Field

_PART = r"[!-.0-~]+"
SPACE = re.compile(rf"spaces/{_PART}")
THREAD = re.compile(rf"spaces/{_PART}/threads/{_PART}")
MESSAGE = re.compile(rf"spaces/{_PART}/messages/{_PART}")
_OPENS_THREAD = re.compile(r"spaces/[^/]+/messages/([^/.]+)\.\1")
#: How Chat's own spaces are called, for settings that name some.
OF_SPACES = r"spaces/[A-Za-z0-9_-]+"
LONGEST = 400

#: The name of any of the three.
ResourceName = Annotated[
    str, Field(pattern=r"^spaces/[^/\s]+(/(threads|messages)/[^/\s]+)?$", max_length=LONGEST)
]


def space_of(name: str) -> str:
    """The space of a thread or a message: the first two parts of its name."""
    return "/".join(name.split("/")[:2])


def message_name(space: str, message_id: str) -> str:
    """The name of a message; `message_id` may be one that we have assigned."""
    return f"{space}/messages/{message_id}"


def is_message_of(space: str, name: str) -> bool:
    """Whether a name is that of a message in a space."""
    return name.startswith(f"{space}/messages/")


def is_thread_of(space: str, name: str) -> bool:
    """Whether a name is that of a thread in a space."""
    return name.startswith(f"{space}/threads/")


def opens_thread(message: str) -> bool:
    """Whether a name is that of a message that opens a thread; no other name tells that it opens none."""
    return _OPENS_THREAD.fullmatch(message) is not None


def opening_message(thread: str) -> str:
    """The name of the message that opens a thread."""
    thread_id = thread.rpartition("/")[2]
    return message_name(space_of(thread), f"{thread_id}.{thread_id}")


def messages_begin(thread: str) -> str:
    """What the names of a thread's messages begin with, as far as Chat has made them."""
    return thread.replace("/threads/", "/messages/") + "."


def document_id(name: str) -> str:
    """`spaces/A/threads/B` → `spaces_A_threads_B`: a document id of Firestore may not contain a slash."""
    return name.replace("/", "_")
