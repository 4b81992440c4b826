"""The providers file: every mistake at once, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.problems import InvalidInput
from passgrid.provider_file import ProviderLimits, read_provider_file


def test_limits_by_provider(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("openai:\n  concurrency: 8\n  requests_per_minute: 300\nanthropic: {}\n")
    assert read_provider_file(file) == {
        "openai": ProviderLimits(concurrency=8, requests_per_minute=300),
        "anthropic": ProviderLimits(),
    }


def test_a_file_that_is_not_there_limits_nothing(tmp_path: Path) -> None:
    assert read_provider_file(tmp_path / "providers.yaml") == {}


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("openai:\n  concurrency: 0\n  rpm: 3\nOpen AI: {}\n")
    with pytest.raises(InvalidInput) as caught:
        read_provider_file(file)
    text = str(caught.value)
    assert "concurrency" in text
    assert "rpm" in text
    assert "Open AI" in text


def test_yaml_that_does_not_parse_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text("openai:\n  concurrency: [\n")
    with pytest.raises(InvalidInput, match=r"providers\.yaml:\d"):
        read_provider_file(file)
