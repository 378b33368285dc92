"""Why a call is refused."""

import grpc


class FirestoreError(Exception):
    """The call must be answered with this status code and message."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> FirestoreError:
    """The request can never succeed as it is (INVALID_ARGUMENT)."""
    return FirestoreError(grpc.StatusCode.INVALID_ARGUMENT, message)


def unimplemented(what: str) -> FirestoreError:
    """Production has `what`, this stand-in does not (UNIMPLEMENTED)."""
    return FirestoreError(grpc.StatusCode.UNIMPLEMENTED, f"The local Firestore does not implement {what}")
