#!/usr/bin/env python3
"""Shows what the bytes of a small RoostStorage file mean: the worked example of FileFormat.md.

usage: explain.py FILE

Goes through all commits from the first to the last. Fields that are zero because they are reserved are left
out, and so is what compressed payloads hold.
"""

import json
import sys

from roost_reader import BLOCK, DIRECTORY, NODE, OPERATIONS, Damage, Fields, Store

TEXTS = {"name", "rest of the key", "inline bytes", "prefix", "value", "rest of the suffix", "rest of the inline bytes"}
SHOWN = 16  # bytes of a field


def commits(store):
    """All commits, oldest first."""
    records = [store.last_commit()]
    while records[-1]["previous"]:
        records.append(store.previous(records[-1]))
    return records[::-1]


def explain_chunk(store, offset, note):
    """Reads the chunk at `offset` by what it says of itself; returns where it ends."""
    fields = Fields(store.data, offset + 4)
    kind = fields.number(1, None) & 0x0F
    length = fields.varint("")
    place = (offset, fields.position - offset + length)
    if kind == NODE:
        store.node(place, note)
    elif kind == DIRECTORY:
        store.directory(place, note)
    elif kind == OPERATIONS:
        for _, operations in store.sections(place, note):
            list(operations)
    else:
        payload = store.chunk(place, kind, note)
        payload.raw(payload.end - payload.position, "value")
    return sum(place)


def explain(data):
    """Start, end and meaning of every field, in the order of the file."""
    rows = []

    def note(start, end, meaning):
        rows.append((start, end, meaning))

    store = Store(data, note)
    note(BLOCK, 2 * BLOCK, "the file header once more")
    for record in commits(store):
        position = record["start"]
        while position + 6 <= record["offset"] and data[position + 4]:
            position = explain_chunk(store, position, note)
        store.record(record["offset"], note)
    return sorted(rows)


def line(data, start, end, meaning):
    shown = data[start:min(end, start + SHOWN)].hex(" ")
    if end - start > SHOWN:
        shown += f" … ({end - start} bytes)"
    elif meaning in TEXTS:
        meaning += " " + json.dumps(data[start:end].decode("ascii", "replace"))
    return f"{start:06x}  {shown:<23}  {meaning}"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            data = file.read()
        for row in explain(data):
            print(line(data, *row))
    except (Damage, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
