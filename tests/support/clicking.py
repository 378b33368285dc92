"""Clicks on the bot's own buttons, as the events of either format."""

from collections.abc import Iterator
from typing import Any

from google.cloud.firestore import FieldFilter

from shared.language.catalogue import text
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.messages.envelope import Envelope, Question
from tests.support.factories import context
from tests.support.golden_events import golden, with_message
from tests.support.ingest_side import Ingest, anew

Json = dict[str, Any]

FOUND = (context(text="To configure the VPN, install the VPN client. Then configure the VPN profile."),)
OTHER = (context(id="c9", title="VPN", uri="gs://kb/9", text="To configure the VPN, call the help desk."),)


def buttons_of(part: Any) -> Iterator[Json]:
    """Every button in a message, at any depth."""
    if isinstance(part, list):
        for each in part:
            yield from buttons_of(each)
    if isinstance(part, dict):
        if "onClick" in part:
            yield part
        for each in part.values():
            yield from buttons_of(each)


def parameters_of(button: Json) -> dict[str, str]:
    """What a click on a button tells; empty for a link."""
    action = button["onClick"].get("action", {})
    return {each["key"]: each.get("value", "") for each in action.get("parameters", [])}


def offered(message: Json) -> list[str]:
    """The actions of a message's buttons, in order."""
    return [given["action"] for given in map(parameters_of, buttons_of(message)) if given]


def click(shape: str, message: Json, person: str = "users/1001", **wanted: str) -> Json:
    """The event of a click on the one button of a message whose parameters are, among others, `wanted`."""
    [button] = [each for each in buttons_of(message) if wanted.items() <= parameters_of(each).items()]
    event = with_message(anew(golden(f"{shape}-clicked")), name=message["name"], thread=message["thread"])
    space = {"name": message["name"].partition("/messages/")[0]}
    parameters = parameters_of(button)
    if shape == "classic":
        event["user"]["name"], event["space"], event["thread"] = person, space, message["thread"]
        function = button["onClick"]["action"]["function"]
        event["common"] |= {"invokedFunction": function, "parameters": parameters, "formInputs": {}}
        event["action"] = {"actionMethodName": function, "parameters": []}
    else:
        event["chat"]["user"]["name"] = person
        event["chat"]["buttonClickedPayload"]["space"] = space
        event["commonEventObject"] |= {"parameters": parameters, "formInputs": {}}
    return event


def sent_on(inbox: Any) -> Envelope:
    """The one message that is on its way."""
    [published] = inbox.messages()
    assert inbox.is_empty()
    return Envelope.from_bytes(published.data)


def told(ingest: Ingest, event: Json, key: str) -> bool:
    """Whether a click has led to this sentence."""
    said = ingest.said(event)
    return said is not None and said["text"] == text("ja", "notice", key)


def rated(firestore: Any, asked: Question) -> list[Json]:
    found = firestore.collection(FEEDBACK).where(filter=FieldFilter("question_id", "==", asked.id)).stream()
    return [each.to_dict() for each in found]
