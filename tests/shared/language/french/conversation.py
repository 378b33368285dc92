"""A conversation in French on the whole stack. Run by test_third_language.py, where `fr.toml` is in place."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingest_fn.commands import help_text
from shared.language.catalogue import text
from shared.memory.conversations import COLLECTION
from shared.messages.dead_letter import reference
from shared.messages.names import document_id
from tests.support.stack import HELPDESK, Stack, running_stack
from tests.support.waiting import until

PRINTER = "Comment installer une imprimante ?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(None, tmp_path_factory.mktemp("logs"), quotas=False) as running:
        yield running


@pytest.fixture(autouse=True)
def faults_off(stack: Stack) -> Iterator[None]:
    yield
    stack.faults.switch_off()


def say(stack: Stack, said: str, thread: str | None = None) -> dict[str, Any]:
    """What somebody writes to the bot whose Chat is in French."""

    async def post() -> Any:
        return stack.cloud.chat.post_as_person(HELPDESK, said, thread=thread, locale="fr-FR")

    return dict(stack.run(post()))


def replied(stack: Stack, thread: str, said: str) -> bool:
    """Whether the bot says this in a thread, perhaps among other things."""
    messages = until(
        lambda: [each for each in stack.of_the_bot(thread) if said in each.get("text", "")], said
    )
    return bool(messages)


def test_a_question_its_follow_up_thanks_and_forgetting(stack: Stack) -> None:
    stack.faults.switch_on("gemini-slow", seconds=2)
    first = say(stack, PRINTER)
    thread = first["thread"]["name"]
    [working] = until(lambda: stack.of_the_bot(thread), "the bot writes")
    assert text("fr", "progress", "understanding") in str(working["cardsV2"])
    assert text("fr", "progress", "writing") in str(working["cardsV2"])
    stack.faults.switch_off()
    answer = stack.final(first)
    assert answer["kind"] == "answer"
    assert [source["title"] for source in answer["sources"]] == ["Installer une imprimante"]
    assert text("fr", "answer", "hint", hours="24") in answer["text"]
    assert text("fr", "answer", "sources") in str(stack.said(first)["cardsV2"])

    second = stack.final(say(stack, "Et sur Mac ?", thread))
    assert second["search_query"].startswith("Et sur Mac ? (")
    assert "imprimante" in second["search_query"].lower()
    assert "PaperStar" in second["text"]

    stack.faults.switch_on("gemini-down")
    thanks = stack.final(say(stack, "Merci beaucoup !", thread))
    assert (thanks["kind"], thanks["text"]) == ("courtesy", text("fr", "answer", "courtesy"))
    stack.faults.switch_off()

    say(stack, "/forget", thread)
    assert replied(stack, thread, text("fr", "forget", "thread"))
    say(stack, "/forget oui", thread)
    assert replied(stack, thread, text("fr", "notice", "forgotten"))
    assert not stack.firestore.collection(COLLECTION).document(document_id(thread)).get().exists


def test_what_is_not_in_the_articles_is_said_in_french(stack: Stack) -> None:
    asked = say(stack, "Quelle est la vitesse de vol d'une hirondelle africaine ?")

    assert stack.final(asked)["text"] == text("fr", "answer", "not_found")


def test_an_apology_is_in_french(stack: Stack) -> None:
    stack.faults.switch_on("gemini-blocked")

    asked = say(stack, PRINTER)

    said = text("fr", "apology", "text", reference=reference(asked["name"]))
    assert replied(stack, asked["thread"]["name"], said)


def test_help_is_in_french(stack: Stack) -> None:
    asked = say(stack, "/help")

    said = help_text("fr", 24).strip()
    assert replied(stack, asked["thread"]["name"], said)
