"""Credentials for Kafka: secrets are read where there is a workspace, and classes named as its client names them."""

import builtins
import doctest
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from cdc import credentials, row_tracking, secret_reader
from cdc.credentials import SecretNotReadable, with_secrets, with_shaded_classes
from cdc.records import kafka_options

SECRETS = {
    ("shop", "user"): "ada",
    ("shop", "jaas"): "org.apache.kafka.common.security.plain.PlainLoginModule required;",
}
JAAS = "cdc.kafka.sasl.jaas.config"


def get(scope: str, key: str) -> str:
    return SECRETS[scope, key]


@pytest.fixture
def configured(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose JAAS text is a secret, for a client with shaded classes."""
    settings = {JAAS: "{{secrets/shop/jaas}}", "cdc.kafka.shaded": "true", "cdc.row_tracking": "True"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


def test_the_examples_hold() -> None:
    result = doctest.testmod(credentials)
    assert (result.attempted, result.failed) == (3, 0)


def test_the_reader_is_the_workspace_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert secret_reader({}) is None
    dbutils = SimpleNamespace(secrets=SimpleNamespace(get=get))
    assert secret_reader({"dbutils": dbutils}) is get
    monkeypatch.setattr(builtins, "dbutils", dbutils, raising=False)
    assert secret_reader({}) is get


def test_a_text_without_references_is_left_as_it_is() -> None:
    assert with_secrets("{{secret/shop/user}} {secrets/shop/user}", get) == "{{secret/shop/user}} {secrets/shop/user}"
    assert with_secrets("{{secrets/shop/user}}", None) == "{{secrets/shop/user}}"


def test_a_secret_that_is_not_handed_out_is_named_with_both_ways_out() -> None:
    with pytest.raises(SecretNotReadable) as refused:
        with_secrets("{{secrets/shop/password}}", get)
    assert str(refused.value) == (
        "SECRET_REFUSED  {{secrets/shop/password}}\n  the workspace has no such secret, or whoever the pipeline"
        " runs as may not read it\n  fix: `databricks secrets put-secret shop password`, or"
        " `databricks secrets put-acl shop APPLICATION_ID READ`."
    )


@pytest.mark.parametrize(
    ("text", "shaded"),
    [
        ("software.amazon.msk.auth.iam.IAMLoginModule", "shadedmskiam.software.amazon.msk.auth.iam.IAMLoginModule"),
        ("kafkashaded.org.apache.kafka.common.X", "kafkashaded.org.apache.kafka.common.X"),
        ("com.org.apache.kafka.X", "com.org.apache.kafka.X"),
        ("broker:9092", "broker:9092"),
    ],
)
def test_only_classes_of_the_client_are_renamed(text: str, shaded: str) -> None:
    assert with_shaded_classes(text) == shaded


def test_options_have_the_secret_under_its_class_s_name_there(configured: SparkSession) -> None:
    found = kafka_options(configured, get)["kafka.sasl.jaas.config"]
    assert found == "kafkashaded.org.apache.kafka.common.security.plain.PlainLoginModule required;"


def test_without_a_workspace_options_are_as_configured(configured: SparkSession) -> None:
    configured.conf.set("cdc.kafka.shaded", "false")
    configured.conf.set("cdc.kafka.options", '{"kafka.x": "org.apache.kafka.X"}')
    try:
        options = kafka_options(configured)
    finally:
        configured.conf.unset("cdc.kafka.options")
    assert options["kafka.sasl.jaas.config"] == "{{secrets/shop/jaas}}"
    assert options["kafka.x"] == "org.apache.kafka.X"


def test_row_tracking_is_asked_for_by_a_setting(configured: SparkSession) -> None:
    assert row_tracking(configured) == {"delta.enableRowTracking": "true"}
    configured.conf.set("cdc.row_tracking", "false")
    assert row_tracking(configured) == {}
