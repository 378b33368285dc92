"""Which messages are too unclear to be understood alone."""

import pytest

from shared.language.follow_ups import is_unclear


@pytest.mark.parametrize(
    "text",
    [
        "can you help with this?",
        "Any ideas?",
        "what do you think?",
        "I have the same problem",
        "how do I fix this?",
        "Can you explain?",
        "And on a Mac?",
        "what about Windows?",
        "does it need a token?",
        "これ分かりますか？",
        "これについて教えてください",
        "どう思いますか？",
        "手伝ってもらえますか",
        "同じ質問です",
        "じゃあMacは？",
    ],
)
def test_a_message_that_names_nothing_or_only_refers_to_another_one_is_unclear(text: str) -> None:
    assert is_unclear(text)


@pytest.mark.parametrize(
    "text",
    [
        "VPN?",
        "opening hours",
        "How do I print?",
        "So how do I reset my password?",
        "How do I connect this laptop to the VPN?",
        "Does this need the VPN?",
        "Can you help me with the printer?",
        "Where is the canteen?",
        "VPNの設定方法を教えて",
        "あと経費精算の締め日を教えて",
        "この申請の締め日は？",
        "プリンターがオフラインと表示されます",
        "印刷方法は？",
    ],
)
def test_a_message_that_names_its_subject_is_clear(text: str) -> None:
    assert not is_unclear(text)
