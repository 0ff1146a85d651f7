"""Every column that AUTO CDC adds between source and target; none of them reaches the target."""

from dlt_local.names import OWN_PREFIX

# An event.
KEY = f"{OWN_PREFIX}key"
"""struct: the key columns, named as in the target."""
SEQ = f"{OWN_PREFIX}seq"
"""The event's sequence, of the type of `sequence_by`."""
OP = f"{OWN_PREFIX}op"
"""int: UPSERT, DELETE or TRUNCATE."""
ROW = f"{OWN_PREFIX}row"
"""struct: the target's columns, including the keys; null for deletes and truncates."""
AUTHORED = f"{OWN_PREFIX}authored"
"""array<string>: the columns that the event sets; null means all of them."""
ARRIVED = f"{OWN_PREFIX}arrived"
"""bigint: order of arrival inside one batch; only compared, never stored."""
HASH = f"{OWN_PREFIX}hash"
"""bigint: fingerprint of ROW, which distinguishes a duplicate from a tie without reading the target."""
WRITTEN_AT = f"{OWN_PREFIX}written_at"
"""timestamp: when the auxiliary state got the entry; a tombstone expires by it."""

UPSERT, DELETE, TRUNCATE = 1, 0, 2
EVENT = (KEY, SEQ, OP, ROW, AUTHORED)
"""The columns of an event frame, in order."""

# A change to a row of the target.
ACTION = f"{OWN_PREFIX}action"
"""string: PUT, REMOVE or COMPARE; null where the row stays as it is."""
IS_NEW = f"{OWN_PREFIX}is_new"
"""boolean: the target cannot have this row yet."""
START = f"{OWN_PREFIX}start"
END = f"{OWN_PREFIX}end"
"""SCD type 2: the interval of the version, END null while it is open."""

PUT, REMOVE, COMPARE = "put", "remove", "compare"
"""COMPARE: a tie with the stored row, which stays if it is the greater one."""

# Latest-row reconciler.
KNOWN = f"{OWN_PREFIX}known"
"""struct<seq, op, hash>: the last event of the key that the target reflects; null where none is known."""
TRUNCATED_AT = f"{OWN_PREFIX}truncated_at"
"""The greatest sequence of any truncate, null if there never was one; older events count for nothing."""
NTH = f"{OWN_PREFIX}nth"
"""int: counts the events that share a key's last sequence, from 1."""
DUPLICATES = f"{OWN_PREFIX}duplicates"
TIES = f"{OWN_PREFIX}ties"
REMEMBERED = f"{OWN_PREFIX}remembered"
"""boolean: the auxiliary state must record the event."""
IS_LATE = f"{OWN_PREFIX}is_late"
IS_DUPLICATE = f"{OWN_PREFIX}is_duplicate"

# In-order history and general fold.
ORIGIN = f"{OWN_PREFIX}origin"
"""int: where a fact is known from: TARGET, STATE or BATCH."""
TARGET, STATE, BATCH = 0, 1, 2
EXISTING = f"{OWN_PREFIX}existing"
"""struct<end, row>: the target's row that starts at this fact, null where there is none."""
IS_KNOWN_TO_STATE = f"{OWN_PREFIX}is_known_to_state"
"""boolean: the auxiliary state has a fact with this key and sequence, this one or one that lost a tie against it."""
SHOWN = f"{OWN_PREFIX}shown"
"""struct like ROW: the row as its version shows it, with the columns that the event did not set filled in."""
STORED = f"{OWN_PREFIX}stored"
"""struct<end, row>: the target's row for the version that the fact belongs to, null where there is none."""
STARTS = f"{OWN_PREFIX}starts"
"""boolean: the fact opens a version."""
IS_LAST_OF_VERSION = f"{OWN_PREFIX}is_last_of_version"
IS_NOT_DERIVABLE = f"{OWN_PREFIX}is_not_derivable"
"""boolean: the target's rows do not imply the fact, so the auxiliary state must keep it."""
IS_OF_BATCH = f"{OWN_PREFIX}is_of_batch"
"""boolean: an event of the batch rather than an open version of the target."""
SHARES_SEQUENCE = f"{OWN_PREFIX}shares_sequence"
"""boolean: the event before it has the same key and sequence."""
IS_TIE = f"{OWN_PREFIX}is_tie"
IS_OUT_OF_ORDER = f"{OWN_PREFIX}is_out_of_order"
"""boolean: an event with a lower sequence of the same key arrived later in the batch."""

# Snapshots.
VERSION = f"{OWN_PREFIX}version"
"""The snapshot's version: the sequence of all its changes."""
IS_GONE = f"{OWN_PREFIX}is_gone"
"""boolean: the snapshot no longer has the key."""


def scratch(name: str) -> str:
    """A column that exists inside one function only."""
    return f"{OWN_PREFIX}scratch_{name}"
