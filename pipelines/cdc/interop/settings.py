"""Settings for Kafka in a data flow, as those of a pipeline: a table spec has none of them."""

from collections.abc import Collection, Iterator

from cdc.interop.kafka import READER_DEFAULTS
from cdc.interop.onboarding import Onboarding, Part
from cdc.interop.sources import EVENT_HUB, SUBSCRIBE
from cdc.spec.secrets import looks_secret, names_secret

_SECRETS = {
    "kafka_source_servers_secrets_scope_name": ("kafka_source_servers_secrets_scope_key", "bootstrap.servers"),
    "kafka.ssl.truststore.secrets.scope": ("kafka.ssl.truststore.secrets.key", "ssl.truststore.password"),
    "kafka.ssl.keystore.secrets.scope": ("kafka.ssl.keystore.secrets.key", "ssl.keystore.password"),
}
"""Field with the scope of a secret -> the field with its key, and the setting that it is the value of."""
_KEYS = [key for key, _ in _SECRETS.values()]


def report_kafka(onboarding: Onboarding, flow: Part, layers: Collection[str]) -> None:
    """Report what a data flow says of its source, beside the topic; of several flows once."""
    details = flow.part("source_details")
    options = [flow.part(f"{layer}_reader_options") for layer in layers]
    for part in (details, *options):
        for name, fix in _settings(part, is_source=part is details):
            if (name, fix) not in onboarding.settings:
                onboarding.settings.add((name, fix))
                part.lost(name, f"`{name}` is a setting of the pipeline, not of a table", fix)


def _settings(part: Part, *, is_source: bool) -> Iterator[tuple[str, str]]:
    """Field and what to do about it; secrets are not shown."""
    for name, value in part.data.items():
        if name in _KEYS or (name in (SUBSCRIBE, EVENT_HUB) if is_source else READER_DEFAULTS.get(name) == value):
            continue
        if name in _SECRETS:
            key, setting = _SECRETS[name]
            yield name, _set(setting, f"{{{{secrets/{value}/{part.data.get(key, 'KEY')}}}}}")
        elif name.startswith("eventhub."):
            yield name, "docs/guides/deploy.md has the settings for Event Hubs."
        elif is_source and not name.startswith("kafka."):
            yield name, "nothing: the spec has the columns, and the decoder reads the rest from the records."
        else:
            is_secret = names_secret(name) or looks_secret(str(value))
            yield name, _set(name.removeprefix("kafka."), "{{secrets/SCOPE/KEY}}" if is_secret else str(value))


def _set(setting: str, value: str) -> str:
    return f"set `cdc.kafka.{setting}: {value}` in the pipeline's configuration."
