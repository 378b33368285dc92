"""The rules of language, in French. Run by test_third_language.py, where `fr.toml` is in place."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from answer_fn.blocks import parse
from answer_fn.compose import Composed
from answer_fn.reply import ending_of
from reformulate_fn.guard import fault
from reformulate_fn.reformulate import reformulate
from reformulate_fn.rewrite import Rewriter, cleaned
from reformulate_fn.services import open_services
from reformulate_fn.settings import Settings
from shared.chat.endings import contents_of
from shared.language.catalogue import text
from shared.language.courtesies import confirms, is_small_talk
from shared.language.detect import of_person, of_text
from shared.language.follow_ups import is_unclear
from shared.language.keywords import by_rule
from shared.language.pointing import pointed_out
from shared.language.words import words
from shared.messages.envelope import Envelope
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.reformulate_fn.test_reformulate import Saying
from tests.support.factories import envelope, question, source, turn

PRINTER = (
    turn("user", "Comment installer l'imprimante PaperStar sur Windows ?"),
    turn("assistant", "Ouvrez le portail et choisissez Imprimantes [1]."),
)
STEPS = "1. Ouvrez le portail\n2. Sélectionnez l'imprimante\n3. Cliquez sur Installer"


def asking(said: str, **fields: object) -> Envelope:
    return envelope(question=question(text=said, language="fr"), **fields)


@pytest.mark.parametrize(
    "said, otherwise, language",
    [
        ("Comment installer l'imprimante sur un Mac ?", "en", "fr"),
        ("L’écran n’affiche rien", "en", "fr"),
        ("Et sur Mac alors ?", "en", "fr"),
        ("How do I install the printer on a Mac?", "fr", "en"),
        ("Printer doesn't work today", "fr", "en"),
        ("プリンターの設定", "fr", "ja"),
        ("PaperStar StarGate VPN", "fr", "fr"),
        ("PaperStar StarGate VPN", "ja", "en"),
        ("Imprimante ?", "en", "en"),
    ],
)
def test_french_english_and_japanese_are_told_apart(said: str, otherwise: str, language: str) -> None:
    assert of_text(said, otherwise) == language


@pytest.mark.parametrize(
    "locale, said, spoken, language",
    [
        ("fr-CA", "VPN?", None, "fr"),
        (None, "Comment installer l'imprimante ?", None, "fr"),
        (None, "How do I install the printer?", None, "en"),
        ("de", "Comment installer l'imprimante ?", ("ja", "fr"), "ja"),
        ("de", "Drucker?", ("fr", "en"), "fr"),
    ],
)
def test_a_french_person_is_answered_in_french(
    locale: str | None, said: str, spoken: tuple[str, ...] | None, language: str
) -> None:
    assert of_person(locale, said, spoken) == language


def test_french_words_have_their_accents_and_no_articles() -> None:
    said = [
        word.surface for word in words("Où est-ce que l’écran d'accueil s'affiche déjà, s'il vous plaît ?")
    ]

    assert said == ["écran", "accueil", "affiche", "déjà"]


def test_each_text_is_without_the_function_words_of_its_own_language() -> None:
    assert [word.surface for word in words("The car is on the son of a plus")] == ["car", "son", "plus"]
    assert [word.surface for word in words("Je suis en retard car il pleut")] == ["retard", "pleut"]


@pytest.mark.parametrize(
    "said",
    ["Merci beaucoup !", "merci", "Bonjour ?", "Ok, merci d’avance", "Parfait, ça marche. Bonne journée !"],
)
def test_thanks_and_greetings_are_small_talk(said: str) -> None:
    assert is_small_talk(said)


@pytest.mark.parametrize("said", ["Merci, et sur Mac ?", "Bonjour, comment imprimer ?", "Merci de m'aider"])
def test_a_question_with_thanks_is_none(said: str) -> None:
    assert not is_small_talk(said)


def test_yes_is_an_answer_to_a_question_alone() -> None:
    assert is_small_talk("Oui.", "C'est fait.")
    assert not is_small_talk("Oui.", "Voulez-vous le modèle en couleur ?")


@pytest.mark.parametrize(
    "said, confirmed", [("Oui !", True), ("ＯＵＩ", True), ("yes", True), ("oui ?", False)]
)
def test_oui_confirms(said: str, confirmed: bool) -> None:
    assert confirms(said) == confirmed


@pytest.mark.parametrize(
    "said, expected",
    [
        ("Et la deuxième étape ?", "Et Sélectionnez l'imprimante ?"),
        ("la dernière ?", "Cliquez sur Installer ?"),
        ("Que faire si l'étape 3 échoue ?", "Que faire si Cliquez sur Installer échoue ?"),
        ("le 1er point ?", "Ouvrez le portail ?"),
        ("Comment commander un deuxième écran ?", "Comment commander un deuxième écran ?"),
    ],
)
def test_a_question_gets_the_item_that_it_points_at(said: str, expected: str) -> None:
    assert pointed_out(said, [STEPS]) == expected


def test_a_query_by_rule_is_french() -> None:
    assert by_rule(asking("Et sur Mac ?", history=PRINTER)) == (
        "Et sur Mac ? (PaperStar, Windows, imprimante, installer)"
    )


@pytest.mark.parametrize(
    "rewrite, wrong",
    [
        ("Comment installer l'imprimante sur un Mac ?", None),
        ("How do I install the printer on a Mac?", "language"),
        ("Macのプリンター設定", "language"),
        ("Imprimante PaperStar Mac", None),
    ],
)
def test_a_rewrite_in_another_language_is_refused(rewrite: str, wrong: str | None) -> None:
    assert fault(rewrite, "Et sur un ordinateur Apple, SVP ?", "fr") == wrong


def test_after_an_english_rewrite_a_french_question_is_searched_for_by_rule(small_cloud: SmallCloud) -> None:
    services = open_services(Settings(chat_endpoint=small_cloud.places.url))
    english = Rewriter(Saying("How do I install the printer on a Mac?"), "gemini")
    sent = asking("Et sur un Mac ?", history=PRINTER)

    found = reformulate(sent, replace(services, rewriter=english), Deadline(30))

    assert (found.search_query, found.rewrite_fault) == (by_rule(sent), "language")


def test_a_label_and_quotes_around_a_rewrite_are_taken_off() -> None:
    assert cleaned("Voici la question reformulée : « Comment imprimer ? »") == "Comment imprimer ?"


def test_a_late_answer_says_so_in_french() -> None:
    asked = datetime.now(UTC) - timedelta(hours=2)
    sent = envelope(question=question(text="Comment imprimer ?", language="fr", asked_at=asked))
    blocks = parse("Installez l'imprimante [1].").blocks(set(), lambda group: f" [{group}]")
    composed = Composed(blocks, (source("c", 1, "Imprimantes", "https://kb.example/i"),))

    [content] = contents_of(ending_of(composed, sent, 24, None), sent.question)

    assert text("fr", "answer", "late", time="").split(" de ")[0] in (content.text or "")
    assert text("fr", "answer", "open") in str(content.cards)


@pytest.mark.parametrize(
    "said, unclear",
    [
        ("Vous pouvez m'aider avec ça ?", True),
        ("J'ai le même problème", True),
        ("Et sur Mac ?", True),
        ("Comment configurer le VPN ?", False),
        ("Où est la cantine ?", False),
    ],
)
def test_a_message_that_names_nothing_is_unclear(said: str, unclear: bool) -> None:
    assert is_unclear(said) is unclear
