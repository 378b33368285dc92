"""Requests that are refused, and what a corpus is called."""

import re

import grpc

LOCATION = re.compile(r"projects/[^/]+/locations/(?P<location>[^/]+)")
CORPUS = re.compile(rf"(?P<parent>{LOCATION.pattern})/ragCorpora/(?P<corpus>[^/]+)")
FILE = re.compile(rf"(?P<name>{CORPUS.pattern})/ragFiles/(?P<file>[^/]+)")


class Refusal(Exception):
    """The request must be refused with this gRPC status."""

    def __init__(self, status: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.status = status


def invalid(message: str) -> Refusal:
    """The request is malformed."""
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, message)


def unknown(kind: str, name: str) -> Refusal:
    """There is no such resource."""
    return Refusal(grpc.StatusCode.NOT_FOUND, f"{kind} {name} is not found")


def unserved(what: str) -> Refusal:
    """The request asks for what only the real service has."""
    return Refusal(grpc.StatusCode.UNIMPLEMENTED, f"not served here: {what}")
