"""What people do besides asking: they click buttons, delete the bot's messages, and tell it to forget."""

import time
from dataclasses import dataclass

import httpx

from chaos import script
from chaos.asked import Asked, Done, Forgot
from chaos.watch import Watch
from chaos.world import AGAIN_ACTIONS, FORGET_WORDS, RATE_ACTION, Json, buttons

#: Seconds a person waits for the bot before writing on.
PATIENCE = 30.0
#: The values of the thumbs.
UP = "up"


@dataclass(frozen=True)
class Deeds:
    """Acts on the chat page, and records the actions in `done`."""

    client: httpx.AsyncClient
    watch: Watch
    done: Done

    async def do(self, deed: str, asked: Asked) -> None:
        """Act on a question. Does nothing if its message or button does not exist yet."""
        match deed:
            case script.RATE:
                await self._click(asked, frozenset({RATE_ACTION}))
            case script.AGAIN:
                await self._click(asked, AGAIN_ACTIONS)
            case script.DELETE:
                await self._delete(asked)
            case script.FORGET:
                await self._forget(asked)

    async def _click(self, asked: Asked, actions: frozenset[str]) -> None:
        for message in self._below(asked):
            for function, given in buttons(message):
                about_it = given.get("question") == asked.name and given.get("action") in actions
                if not about_it or given.get("verdict", UP) != UP:
                    continue
                self.done.clicked[asked.place] += 1
                if given["action"] in AGAIN_ACTIONS:
                    self.done.anew[asked.name] = time.monotonic()
                body: Json = {"message": message["name"], "function": function, "parameters": given}
                await self._post("clicks", body | self._who(asked))
                return

    async def _delete(self, asked: Asked) -> None:
        for message in self._below(asked):
            self.done.deleted[asked.place] += 1
            await self._post("delete", {"name": message["name"]})
            return

    async def _forget(self, asked: Asked) -> None:
        body = {"space": asked.conversation.space, "text": FORGET_WORDS, "thread": asked.place}
        ended = len(self.watch.ends(asked.place))
        said = await self._post("messages", body | self._who(asked))
        if said:
            self.done.forgot.append(Forgot(asked.place, said["name"], said["createTime"]))
            if not asked.conversation.hasty:
                await self.watch.ended(asked.place, ended + 1, PATIENCE)

    def _below(self, asked: Asked) -> list[Json]:
        """The bot's messages after a question, in the same place, the latest first."""
        said = self.watch.said_in(asked.place)
        return [message for message in reversed(said) if message["createTime"] > asked.created]

    async def _post(self, path: str, body: Json) -> Json:
        """The answer of the page. Empty if Chat refuses, for example if the bot did not answer a click."""
        answer = await self.client.post(f"/page/{path}", json=body)
        return dict(answer.json()) if answer.is_success else {}

    def _who(self, asked: Asked) -> Json:
        return {"person": asked.conversation.person, "locale": asked.conversation.topic.locale}
