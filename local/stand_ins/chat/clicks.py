"""Clicks on the bot's buttons, in a message or in a dialog. The person waits for the bot's answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from local.stand_ins.chat.connection import message_in
from local.stand_ins.chat.dialogs import Outcome, outcome_of
from local.stand_ins.chat.interactions import DialogType, Interaction
from local.stand_ins.chat.people import People, now, there
from local.stand_ins.http_gate import invalid

Json = dict[str, Any]


@dataclass(frozen=True)
class Button:
    """A button, named by its action. `in_dialog`: it is in the dialog that the message opened."""

    message: str
    function: str
    parameters: dict[str, str]
    in_dialog: bool = False


@dataclass
class Clicks:
    """Clicks for people, and remembers which dialogs they have open."""

    people: People
    dialogs: dict[tuple[str, str], Json] = field(default_factory=dict)

    async def click(
        self, button: Button, inputs: dict[str, list[str]], *, person: str, locale: str
    ) -> Outcome | None:
        """Click, and return the immediate outcome, if any.

        Raises RestError if Chat would refuse the click, or if the bot does not answer.
        """
        space, _, message_id = button.message.partition("/messages/")
        message = self.people.messages.own(space, message_id).message
        place, clicker = there(space, person)
        self.people.messages.check_bot_in(space)
        done = Interaction(
            "clicked",
            clicker,
            place,
            locale,
            now(),
            message,
            function=button.function,
            parameters=button.parameters,
            inputs=inputs,
            dialog=self._dialog_type(button, message, person),
        )
        answer = await self.people.answered(done)
        outcome = outcome_of(answer)
        if outcome is None and (said := message_in(answer)):
            self.people.post(said, message)
        self.dialogs.pop((person, button.message), None)
        if outcome and outcome.dialog:
            self.dialogs[person, button.message] = outcome.dialog
        return outcome

    def _dialog_type(self, button: Button, message: Json, person: str) -> DialogType:
        """The part that the click plays for a dialog. Raises RestError if there is no such button."""
        shown = self.dialogs.get((person, button.message), {}) if button.in_dialog else message
        actions = [each for each in _actions(shown) if _does(each) == (button.function, button.parameters)]
        if not actions:
            raise invalid(f"{button.message} has no such button.")
        if button.in_dialog:
            return "SUBMIT_DIALOG"
        return "REQUEST_DIALOG" if actions[0].get("interaction") == "OPEN_DIALOG" else ""


def _does(action: Json) -> tuple[str, dict[str, str]]:
    parameters = {each["key"]: each.get("value", "") for each in action.get("parameters", [])}
    return action["function"], parameters


def _actions(part: Any) -> Iterator[Json]:
    """The action of every button in a message or a card, at any depth."""
    if isinstance(part, list):
        for each in part:
            yield from _actions(each)
    if not isinstance(part, dict):
        return
    action = part.get("action")
    if isinstance(action, dict) and "function" in action:
        yield action
    for each in part.values():
        yield from _actions(each)
