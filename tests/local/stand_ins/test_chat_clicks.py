"""The Chat stand-in: clicks on buttons and dialogs, in either format over either transport."""

import pytest

from shared.chat.events import Clicked
from tests.support.chat_stand_in import IT_SUPPORT
from tests.support.connecting import BEN, Json, Setting

pytest_plugins = ["tests.support.connection_fixtures"]


def card_with_button(setting: Setting) -> Json:
    """A message of the bot's with one button."""
    action = {
        "function": "rate",
        "parameters": [{"key": "action", "value": "rate"}, {"key": "n", "value": "1"}],
    }
    button = {"text": "Rate", "onClick": {"action": action}}
    card = {"sections": [{"widgets": [{"buttonList": {"buttons": [button]}}]}]}
    body = {"cardsV2": [{"cardId": "c", "card": card}]}
    return dict(setting.page.post(f"/v1/{IT_SUPPORT}/messages", json=body).json())


def test_a_click_on_a_button_arrives_except_at_an_add_on_by_pub_sub(connected: Setting) -> None:
    connection = connected.page.get("/page/connection").json()
    message = card_with_button(connected)
    click = {
        "message": message["name"],
        "function": "rate",
        "parameters": {"action": "rate", "n": "1"},
        "inputs": {"why": ["long"]},
        "person": BEN,
    }

    if (connection["shape"], connection["transport"]) == ("add-on", "pubsub"):
        assert "unable to process" in connected.refused("clicks", **click)
        return
    connected.post("clicks", **click)
    clicked = connected.meaning()
    assert isinstance(clicked, Clicked)
    assert (clicked.action, clicked.parameters, clicked.inputs) == ("rate", {"n": "1"}, {"why": ("long",)})
    assert (clicked.message, clicked.place.person) == (message["name"], BEN)


@pytest.mark.parametrize(
    "changed",
    [
        {"function": "other"},
        {"parameters": {"n": "2"}},
        {"message": f"{IT_SUPPORT}/messages/x"},
        {"inputs": 3},
    ],
    ids=str,
)
def test_only_a_button_that_is_there_can_be_clicked(setting: Setting, changed: Json) -> None:
    message = card_with_button(setting)["name"]
    click = {"message": message, "function": "rate", "parameters": {"action": "rate", "n": "1"}}

    setting.refused("clicks", **{**click, **changed})
    assert setting.heard.events == []


@pytest.mark.parametrize("shape", ["classic", "add-on"])
def test_a_click_opens_a_dialog_and_its_button_closes_it(setting: Setting, shape: str) -> None:
    setting.connect(shape=shape, transport="https", audience="url")
    send = {"text": "Send", "onClick": {"action": {"function": "send"}}}
    dialog = {"sections": [{"widgets": [{"buttonList": {"buttons": [send]}}]}]}
    answers: dict[str, tuple[Json, Json]] = {
        "classic": (
            {"actionResponse": {"type": "DIALOG", "dialogAction": {"dialog": {"body": dialog}}}},
            {
                "actionResponse": {
                    "type": "DIALOG",
                    "dialogAction": {"actionStatus": {"statusCode": "OK", "userFacingMessage": "Thanks"}},
                }
            },
        ),
        "add-on": (
            {"action": {"navigations": [{"pushCard": dialog}]}},
            {
                "action": {
                    "navigations": [{"endNavigation": {"action": "CLOSE_DIALOG"}}],
                    "notification": {"text": "Thanks"},
                }
            },
        ),
    }
    shown, closed = answers[shape]
    message = card_with_button(setting)["name"]
    click = {"message": message, "function": "rate", "parameters": {"action": "rate", "n": "1"}}
    submit = {"message": message, "function": "send", "dialog": True, "inputs": {"why": ["old"]}}

    assert "no such button" in setting.refused("clicks", **submit)
    setting.heard.answer = shown
    assert setting.post("clicks", **click) == {"dialog": dialog, "notice": ""}
    setting.heard.answer = closed
    assert setting.post("clicks", **submit) == {"dialog": None, "notice": "Thanks"}

    event = setting.event(2)
    told = event["chat"]["buttonClickedPayload"] if shape == "add-on" else event
    assert (told["isDialogEvent"], told["dialogEventType"]) == (True, "SUBMIT_DIALOG")
    assert setting.meaning(2).inputs == {"why": ("old",)}
    assert "no such button" in setting.refused("clicks", **submit)
