"""However much a program writes, its beginning and its end are kept."""

from __future__ import annotations

from passgrid.agents.bounded_output import BoundedOutput


def test_little_is_kept_whole() -> None:
    output = BoundedOutput(head=4, tail=4)
    for piece in (b"ab", b"cd", b"ef", b"gh"):
        output.add(piece)
    assert output.text() == "abcdefgh"


def test_of_much_the_middle_is_left_out_and_told() -> None:
    output = BoundedOutput(head=2, tail=2)
    for n in range(1000):
        output.add(b"%03d" % n)
    assert output.text() == "00\n[… 2996 bytes left out …]\n99"


def test_one_large_piece_is_no_different() -> None:
    output = BoundedOutput(head=2, tail=2)
    output.add(b"abcdefgh")
    assert output.text() == "ab\n[… 4 bytes left out …]\ngh"


def test_bytes_that_are_no_text_are_replaced_and_last_words_are_short() -> None:
    output = BoundedOutput()
    output.add(b"\xff\n\n one \n two \n three \n four \n")
    assert output.text().startswith("\ufffd")
    assert output.last_lines(100) == "two | three | four"
    assert output.last_lines(4) == "four"
