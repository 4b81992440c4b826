import pytest

from dashboard.plain_text import label, one_line, visible


def test_control_and_direction_characters_are_shown_not_obeyed() -> None:
    assert visible("a\0b\x1bc\u202ed\ud800") == "a␀b␛c⟨U+202E⟩d\ufffd"
    assert visible("two\n\tlines") == "two\n\tlines"


def test_one_line_is_short() -> None:
    assert one_line("a\n\n b\r\nc") == "a b␍ c"
    assert one_line("x" * 5_000_000, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold** [a](b)", r"\*\*bold\*\* \[a\]\(b\)"),
        ("<script>alert(1)</script>", r"\<script\>alert\(1\)\</script\>"),
        ("$x^2$ `c` # ~~t~~", r"\$x\^2\$ \`c\` \# \~\~t\~\~"),
        (":material/home: :red[x] :smile:", ":\u2060material/home: :\u2060red\\[x\\] :\u2060smile:"),
        ("openai:gpt-5", r"openai:gpt\-5"),
    ],
)
def test_a_label_has_no_markup_left(text: str, expected: str) -> None:
    assert label(text) == expected
