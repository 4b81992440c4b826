"""Secrets are found by kind and by value, wherever they stand; what is none stays as it is."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.redaction import Redactor, secrets_of

PLANTED = {
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
    "anthropic-key": "sk-" + "ant-api03-abcdefghijklmnopqrstuvwx",
    "openai-key": "sk-" + "proj-abcdefghijklmnopqrstuvwx0123",
    "stripe-key": "sk_" + "live_abcdefghijklmnop0123",
    "github-token": "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789",
    "gitlab-token": "glpat" + "-abcdefghijklmnopqrst",
    "slack-token": "xoxb" + "-123456789012-abcdefghij",
    "aws-key": "AKIA" + "IOSFODNN7EXAMPLE",
    "google-key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "npm-token": "npm" + "_abcdefghijklmnopqrstuvwxyz0123456789",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "bearer": "Authorization: Bearer abcDEF123456789xyz",
    "url-password": "postgres://user:s3cr3tpass@db/x",
    "assigned-secret": "password=hunter2hunter2",
}


@pytest.mark.parametrize("kind", sorted(PLANTED))
def test_each_kind_is_found_in_a_text_a_key_a_value_and_a_list(kind: str) -> None:
    secret = PLANTED[kind]
    redactor = Redactor()
    for value in (f"see {secret} here", {f"x {secret}": 1}, {"a": [{"b": secret}]}):
        redacted = json.dumps(redactor.value(value))
        assert f"[redacted:{kind}]" in redacted, redacted
    assert kind in redactor.found(secret)


def test_a_member_with_a_telling_name_is_redacted_whatever_it_holds() -> None:
    told = {"db_password": "correct horse battery", "x-api-key": "no pattern here"}
    silent = {"max_tokens": "12345678", "key": "PROJ-1234567", "monkey": "bananas!"}
    assert Redactor().value(told | silent) == dict.fromkeys(told, "[redacted:named]") | silent


@given(
    st.text(alphabet=st.characters(codec="ascii", exclude_categories=["C"]), min_size=12, max_size=40),
    st.binary(max_size=9),
)
def test_a_known_value_is_found_as_it_is_percent_encoded_and_in_base64(secret: str, before: bytes) -> None:
    redactor = Redactor([secret])
    whole = base64.b64encode(before + secret.encode() + b" and more").decode()
    for text in (f"x{secret}y", quote(secret, safe=""), whole):
        assert "[redacted:value]" in redactor.text(text)


def test_values_come_from_names_that_say_so_and_from_addresses() -> None:
    environment = {
        "OPENAI_API_KEY": "value-of-the-key",
        "Authorization": "Bearer value-of-the-token",
        "DATABASE_URL": "postgres://me:p%40ssw0rd1@host/db",
        "PATH": "/usr/bin:/bin",
        "SHORT_TOKEN": "abc",
    }
    found = secrets_of(environment)
    assert {"value-of-the-key", "value-of-the-token", "p%40ssw0rd1", "p@ssw0rd1"} <= found
    assert not {"/usr/bin:/bin", "abc"} & found


@pytest.mark.parametrize(
    "value",
    [
        "a task for sky-diving-and-other-things",
        "https://example.com:8080/path@x",
        "tokens: 1234",
        {"keys": ["a", 1, None, 2.5]},
    ],
)
def test_what_is_no_secret_stays(value: Any) -> None:
    assert Redactor(["some-known-secret"]).value(value) == value


@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa-", "eyJaaaaaaaa.", "pg_a_", "://a:", "bearer ", "sk-", "xoxb-"],
)
def test_long_texts_that_nearly_are_secrets_are_read_in_one_go(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    assert Redactor().text(text)


def test_a_private_key_with_headers_is_found() -> None:
    head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC"
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{head}\n\nabc+/=\n-----END RSA PRIVATE KEY-----"
    assert Redactor().text(f"a {key} b {key}") == "a [redacted:private-key] b [redacted:private-key]"
