"""Settings for Kafka in sdp-meta's form: references to secrets where it knows them, else placeholders."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cdc.errors import Diagnostic, Location, RunCondition
from cdc.records import CLIENT_SETTINGS
from cdc.settings import SettingFault, setting_faults
from cdc.spec.secrets import looks_secret, names_secret

OPTION = "--kafka"
READER_DEFAULTS = {"startingOffsets": "earliest", "failOnDataLoss": "true"}
"""Options of Spark's Kafka reader that every flow has."""
_SERVERS = "bootstrap.servers"
_REFERENCE = re.compile(r"\{\{\s*secrets/([\w.@-]+)/([\w.@-]+)\s*\}\}", re.ASCII)
_STORES = ("ssl.truststore", "ssl.keystore")
_NO_SECRET = ("databricks.serviceCredential",)
"""Settings whose name says `credential`, and whose value is the name of one."""
_JAAS = "sasl.jaas.config"


@dataclass(frozen=True)
class KafkaSource:
    """What the flows say of Kafka, beside the topic."""

    details: Mapping[str, str]
    """For `source_details`."""
    reader_options: Mapping[str, str]
    found: tuple[Diagnostic, ...]


def unknown_settings(names: Iterable[str]) -> list[SettingFault]:
    """The settings that do not exist, by the names that they have after ``cdc.kafka.``."""
    return setting_faults(f"cdc.kafka.{name}" for name in names)


def kafka_source(settings: Mapping[str, str]) -> KafkaSource:
    """The settings of a pipeline, named as after ``cdc.kafka.``, for sdp-meta.

    It reads the servers, and the passwords of key and trust stores, by scope and key of a secret; everything else is an
    option of the reader, in clear text.
    """
    details, left = dict(_details(settings)), dict(settings)
    found: list[Diagnostic] = []
    if not any(name.startswith(("kafka.bootstrap", "kafka_source_servers")) for name in details):
        details["kafka.bootstrap.servers"] = placeholder("kafka.bootstrap.servers")
        found.append(_no_servers())
    for name in settings:
        store, _, part = name.rpartition(".")
        if name == _SERVERS or (part in ("location", "password") and f"kafka.{store}.location" in details):
            left.pop(name)
    if settings.get("security.protocol", "").startswith("SASL") and not left.keys() & {_JAAS, *_NO_SECRET}:
        left[_JAAS] = ""
    options = dict(READER_DEFAULTS)
    for name, value in left.items():
        option = f"kafka.{name}" if name in CLIENT_SETTINGS else name
        is_secret = name not in _NO_SECRET and (names_secret(name) or looks_secret(value))
        options[option] = placeholder(option) if is_secret else value
        if is_secret:
            found.append(_not_written(name, option))
    return KafkaSource(details, options, tuple(found))


def placeholder(option: str) -> str:
    """What stands in a file for a value that is not written."""
    return f"<{option}>"


def _details(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    servers = settings.get(_SERVERS)
    if servers and (secret := _REFERENCE.fullmatch(servers.strip())):
        yield "kafka_source_servers_secrets_scope_name", secret[1]
        yield "kafka_source_servers_secrets_scope_key", secret[2]
    elif servers and not looks_secret(servers):
        yield "kafka.bootstrap.servers", servers
    for store in _STORES:
        location, password = settings.get(f"{store}.location"), settings.get(f"{store}.password", "")
        if location and (secret := _REFERENCE.fullmatch(password.strip())):
            yield f"kafka.{store}.location", location
            yield f"kafka.{store}.secrets.scope", secret[1]
            yield f"kafka.{store}.secrets.key", secret[2]


def _no_servers() -> Diagnostic:
    return Diagnostic(
        RunCondition.NOT_EXPORTED,
        Location(f"{OPTION} {_SERVERS}", 0),
        f"the servers are not given; `{placeholder('kafka.bootstrap.servers')}` stands for them",
        f"add `{OPTION} {_SERVERS}=HOST:PORT`, or `{OPTION} '{_SERVERS}={{{{secrets/SCOPE/KEY}}}}'`.",
        severity="warning",
    )


def _not_written(name: str, option: str) -> Diagnostic:
    return Diagnostic(
        RunCondition.SECRET_NOT_WRITTEN,
        Location(f"{OPTION} {name}", 0),
        f"sdp-meta reads `{option}` from `bronze_reader_options`, in clear text; `{placeholder(option)}` stands for it",
        f"use `{OPTION} databricks.serviceCredential=NAME`, which needs no secret; or put the value in where only the"
        " pipeline can read the file.",
        severity="warning",
    )
