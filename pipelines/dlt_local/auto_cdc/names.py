"""The columns that APPLY CHANGES uses between source and target; none of them reaches the target."""

from dlt_local.names import OWN_PREFIX

KEY = f"{OWN_PREFIX}key"
"""struct: the key columns, named as in the target."""
SEQ = f"{OWN_PREFIX}seq"
"""The event's place in the order of its key, of the type of sequence_by."""
OP = f"{OWN_PREFIX}op"
"""int: one of the kinds below."""
ROW = f"{OWN_PREFIX}row"
"""struct: the target's columns, the keys included; null for deletes and truncates."""
AUTHORED = f"{OWN_PREFIX}authored"
"""array<string>: the columns that the event says something about; null means all of them."""
ARRIVED = f"{OWN_PREFIX}arrived"
"""bigint: order of arrival inside one batch; only compared, never stored."""
WRITTEN_AT = f"{OWN_PREFIX}written_at"
"""timestamp: when this engine learnt of the event; tombstones are forgotten by it."""

UPSERT, DELETE, TRUNCATE = 1, 0, 2
EVENT = (KEY, SEQ, OP, ROW, AUTHORED)
"""The columns of an event frame, in order."""
