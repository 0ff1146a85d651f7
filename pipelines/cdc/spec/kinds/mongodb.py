"""MongoDB: column types as in a document, collections and topics."""

from cdc.spec.kinds.arguments import Types, decimal, each_of, plain
from cdc.spec.kinds.comparison import Widths
from cdc.spec.kinds.kind import Kind

_TYPES = Types(
    title="MongoDB",
    examples="string, int, long, decimal(18,2), date or objectid",
    readers={
        **each_of(("string", "boolean", "int", "long", "double", "decimal128"), plain),
        "decimal": decimal(38, 18),
        **each_of(("date", "objectid", "binary", "uuid", "timestamp", "json"), plain),
    },
    synonyms={
        "varchar": "string",
        "text": "string",
        "bool": "boolean",
        "integer": "int",
        "bigint": "long",
        "numeric": "decimal",
        "bindata": "binary",
        "object": "json",
        "array": "json",
    },
    own="for any other value, json",
)

KIND = Kind(
    name="mongodb",
    title=_TYPES.title,
    connector_class="io.debezium.connector.mongodb.MongoDbConnector",
    table_example="shop.orders",
    topic_patterns=("{prefix}.{database}.{collection}",),
    table_parts=("database", "collection"),
    table_fields=("db", "collection"),
    parser=_TYPES.parse,
    known_types=tuple(_TYPES.readers),
    texts=("string", "objectid", "uuid", "decimal128", "json"),
    modes={
        "within_transaction": ("auto", "arrival"),
        "capture_mode": (
            "change_streams_update_full",
            "change_streams_update_full_with_pre_image",
            "change_streams",
            "change_streams_with_pre_image",
            "oplog",
        ),
    },
    # Flattened documents have lost their types, and Avro has a document as text in a union.
    shapes=("envelope", "cloudevents"),
    document_key="_id",
    partial_modes=("change_streams", "change_streams_with_pre_image", "oplog"),
    widths=Widths(families={"number": ("int", "long", "double", "decimal", "decimal128")}),
)
