"""Names of models on the command line."""

import pytest

from passgrid.model_reference import parse_model_reference


def test_settings_are_typed_and_sorted() -> None:
    found = parse_model_reference("openai:gpt-5?temperature=0.2&effort=high&seed=3&stream=true")
    assert found.settings == (("effort", "high"), ("seed", 3), ("stream", True), ("temperature", 0.2))
    assert str(found) == "openai:gpt-5?effort=high&seed=3&stream=true&temperature=0.2"
    assert parse_model_reference(str(found)) == found


@pytest.mark.parametrize("text", ["", "gpt-5", ":x", "openai:", "a b:c", "openai:x?temperature", "openai:x?a=1&a=2"])
def test_what_is_no_model_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several messages, all for people
        parse_model_reference(text)


@pytest.mark.parametrize("text", ["recorded:x?temperature=1", "scripted:x?seed=1"])
def test_recordings_and_scripts_take_no_settings(text: str) -> None:
    with pytest.raises(ValueError, match="takes no settings"):
        parse_model_reference(text)


def test_a_label_is_the_name_of_a_folder() -> None:
    assert parse_model_reference("openai:org/gpt-5?temperature=0.2").as_label() == "openai-org-gpt-5-temperature-0.2"
