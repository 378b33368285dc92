"""The names of spaces, threads and messages in Google Chat.

They are `spaces/A`, `spaces/A/threads/B` and `spaces/A/messages/C`
(developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages). If Chat made the name of a
message in the thread B, C is `B.D`. It is `B.B` for the message that opens the thread. Google does not
document this; it was observed.
"""

import re
from typing import Annotated

from pydantic import Field

_PART = r"[!-.0-~]+"
SPACE = re.compile(rf"spaces/{_PART}")
THREAD = re.compile(rf"spaces/{_PART}/threads/{_PART}")
MESSAGE = re.compile(rf"spaces/{_PART}/messages/{_PART}")
_OPENS_THREAD = re.compile(r"spaces/[^/]+/messages/([^/.]+)\.\1")
#: A regular expression for the names of spaces, for settings.
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
    """The name of a message. `message_id` may be an id that we have assigned."""
    return f"{space}/messages/{message_id}"


def is_message_of(space: str, name: str) -> bool:
    """Whether a name belongs to a message in a space."""
    return name.startswith(f"{space}/messages/")


def is_thread_of(space: str, name: str) -> bool:
    """Whether a name belongs to a thread in a space."""
    return name.startswith(f"{space}/threads/")


def opens_thread(message: str) -> bool:
    """Whether the name shows that a message opens a thread. Other messages may open one as well."""
    return _OPENS_THREAD.fullmatch(message) is not None


def opening_message(thread: str) -> str:
    """The name of the message that opens a thread."""
    thread_id = thread.rpartition("/")[2]
    return message_name(space_of(thread), f"{thread_id}.{thread_id}")


def messages_begin(thread: str) -> str:
    """The prefix of the names of a thread's messages, for names that Chat made."""
    return thread.replace("/threads/", "/messages/") + "."


def document_id(name: str) -> str:
    """`spaces/A/threads/B` → `spaces_A_threads_B`, because a Firestore document id may not have a slash."""
    return name.replace("/", "_")
