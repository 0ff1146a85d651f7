"""Secrets are removed from texts and errors; everything else stays."""

import doctest

import pytest

from dlt_local.observability import redaction
from dlt_local.observability.redaction import REDACTED, redact, redact_error, secret_values

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="shop" password="geheim; and more";'


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:sqlserver://host;user=sa;password=geheim",
        "Map(kafka.sasl.jaas.config -> geheim, subscribe -> orders)",
        '{"aws.secret-access-key": "geheim"}',
        "option('token', 'geheim') is not known",
        "cannot reach https://shop:geheim@host/path",
        "SASL_PASSWORD: geheim",
        f"invalid config: {JAAS.replace('geheim; and more', 'geheim')}",
        "fs.azure.account.key.x.net=geheim",
    ],
)
def test_a_secret_is_removed_from_any_text(text: str) -> None:
    assert "geheim" not in redact(text)
    assert REDACTED in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "flow `orders` (source.py:7): column `id` cannot be resolved",
        "expectation `named` (name IS NOT NULL) is not met by the row {}",
        "the topic server1.shop.dbo.orders has no partition 3",
        "read https://docs.example.org/password",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


def test_the_value_of_a_secret_setting_is_removed_everywhere() -> None:
    values = secret_values({"kafka.sasl.jaas.config": JAAS, "cdc.topic": "orders", "pin.token": "abc"})
    assert values == {JAAS, "geheim; and more"}
    assert redact(f"login as geheim; and more failed: {JAAS}", values) == f"login as {REDACTED} failed: {REDACTED}"


def test_an_error_is_redacted_and_a_cause_with_a_secret_detached() -> None:
    class Foreign(Exception):
        def __str__(self) -> str:
            return "password=geheim"

    error = ValueError("token=geheim")
    error.__cause__ = Foreign()
    redact_error(error, ())
    assert str(error) == f"token={REDACTED}"
    assert error.__cause__ is None


def test_the_examples_hold() -> None:
    assert doctest.testmod(redaction).failed == 0
