"""What the Chat API refuses, as an exception that the REST layer answers with."""


class ChatError(Exception):
    """A call that is refused with this HTTP status and Google status name, for example 404 and NOT_FOUND."""

    def __init__(self, http_status: int, status: str, message: str) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.status = status


def invalid(message: str) -> ChatError:
    """400 INVALID_ARGUMENT."""
    return ChatError(400, "INVALID_ARGUMENT", message)


def not_found(message: str) -> ChatError:
    """404 NOT_FOUND."""
    return ChatError(404, "NOT_FOUND", message)


def already_exists(message: str) -> ChatError:
    """409 ALREADY_EXISTS."""
    return ChatError(409, "ALREADY_EXISTS", message)


def not_implemented(message: str) -> ChatError:
    """501 UNIMPLEMENTED: the real Chat can do this, the stand-in cannot."""
    return ChatError(501, "UNIMPLEMENTED", message)
