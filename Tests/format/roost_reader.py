#!/usr/bin/env python3
"""Lists what a RoostStorage file holds, by following FileFormat.md and nothing else.

usage: roost_reader.py [--json] FILE

Prints every entry of every tree as of the last commit; with --json the same as data, byte strings in
hexadecimal. Exit status 1: the file is damaged or cannot be read; 2: it was called wrongly.

Section numbers in comments are FileFormat.md's. It needs Python 3.8 and reads the whole file into memory: it
is a proof that the document suffices, not a tool for large stores.
"""

import collections
import json
import sys
import zlib

BLOCK = 4096
FIRST_COMMIT = 2 * BLOCK
RECORD_SIZE = 192
MASK = (1 << 64) - 1
LOG, CHECKPOINT, CLEAN_SHUTDOWN, BARRIER = 1, 2, 3, 4
VALUE, NODE, OPERATIONS, DIRECTORY = 1, 2, 3, 4
CHUNK_KINDS = {VALUE: "value", NODE: "node", OPERATIONS: "operations", DIRECTORY: "directory"}
COMMIT_KINDS = {LOG: "log", CHECKPOINT: "checkpoint", CLEAN_SHUTDOWN: "clean shutdown", BARRIER: "barrier"}
MAKE, DROP = 0x01, 0x02
PUT, DELETE, DELETE_RANGE, APPEND_LEAF = 0x10, 0x20, 0x21, 0x30
OPERATION_NAMES = {PUT: "put", DELETE: "delete", DELETE_RANGE: "delete a range", APPEND_LEAF: "append a leaf"}
REFERENCE_KINDS = ["none", "owned", "shared", "borrowed"]
COMPRESSED, TRANSFORMED, PACKED, CHANGES = 0x10, 0x20, 0x40, 0x80


class Damage(Exception):
    """Bytes that don't follow the format."""


def require(condition, what, offset=None):
    if not condition:
        raise Damage(what if offset is None else f"{what} at offset {offset}")


# 2.1 Checksums

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, M = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, 0x9FB21C651E98DF25
SMALL_P1, SMALL_P2, SMALL_P3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
LOW_HALF = (1 << 32) - 1


def word(data, offset, size=8):
    return int.from_bytes(data[offset:offset + size], "little")


def rotl(value, count):
    return ((value << count) | (value >> (64 - count))) & MASK


def fold(a, b):
    return (a * b & MASK) ^ (a * b >> 64)


def avalanche(h):
    h = (h ^ (h >> 37)) * 0x165667919E3779F9 & MASK
    return h ^ (h >> 32)


def final(h):
    h = (h ^ (h >> 33)) * P2 & MASK
    h = (h ^ (h >> 29)) * P3 & MASK
    return h ^ (h >> 32)


def xxh3(d):
    n = len(d)
    if n > 240:
        return xxh3_long(d)

    def mix(i, k):
        return fold(word(d, i) ^ word(SECRET, k), word(d, i + 8) ^ word(SECRET, k + 8))

    if n > 128:
        h = avalanche((n * P1 + sum(mix(16 * i, 16 * i) for i in range(8))) & MASK)
        rest = sum(mix(16 * i, 16 * i - 125) for i in range(8, n // 16))
        return avalanche((h + mix(n - 16, 119) + rest) & MASK)
    if n > 16:
        pairs = range((n - 1) // 32 + 1)
        parts = sum(mix(16 * i, 32 * i) + mix(n - 16 * i - 16, 32 * i + 16) for i in pairs)
        return avalanche((n * P1 + parts) & MASK)
    if n > 8:
        a = word(d, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
        b = word(d, n - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
        return avalanche((n + int.from_bytes(a.to_bytes(8, "little"), "big") + b + fold(a, b)) & MASK)
    if n > 3:
        h = (word(d, n - 4, 4) + (word(d, 0, 4) << 32)) ^ word(SECRET, 8) ^ word(SECRET, 16)
        h = (h ^ rotl(h, 49) ^ rotl(h, 24)) * M & MASK
        h = (h ^ ((h >> 35) + n)) * M & MASK
        return h ^ (h >> 28)
    if n > 0:
        x = d[n - 1] + (n << 8) + (d[0] << 16) + (d[n // 2] << 24)
        return final(x ^ word(SECRET, 0, 4) ^ word(SECRET, 4, 4))
    return final(word(SECRET, 56) ^ word(SECRET, 64))


def xxh3_long(d):
    n = len(d)
    lanes = [SMALL_P3, P1, P2, P3, P4, SMALL_P2, P5, SMALL_P1]
    secret = [word(SECRET, i) for i in range(0, 192, 8)]

    def add(i, secret):
        words = [word(d, k) for k in range(i, i + 64, 8)]
        for j in range(8):
            x = words[j] ^ secret[j]
            lanes[j] = (lanes[j] + (x & LOW_HALF) * (x >> 32) + words[j ^ 1]) & MASK

    blocks = (n - 1) // 1024
    for o in range(0, blocks * 1024, 1024):
        for i in range(16):
            add(o + 64 * i, secret[i:])
        for j in range(8):
            lanes[j] = (lanes[j] ^ (lanes[j] >> 47) ^ secret[16 + j]) * SMALL_P1 & MASK
    o = blocks * 1024
    for i in range((n - 1 - o) // 64):
        add(o + 64 * i, secret[i:])
    add(n - 64, [word(SECRET, 121 + 8 * j) for j in range(8)])
    pairs = [fold(lanes[2 * i] ^ word(SECRET, 11 + 16 * i), lanes[2 * i + 1] ^ word(SECRET, 19 + 16 * i))
             for i in range(4)]
    return avalanche((n * P1 + sum(pairs)) & MASK)


def checksum_of(data, seed):
    return avalanche(xxh3(data) ^ (seed & MASK))


# 2 Conventions

class Fields:
    """Reads the fields of some bytes one after another; reports each to `note`, if there is one."""

    def __init__(self, data, start=0, end=None, note=None):
        self.data, self.position, self.note = data, start, note
        self.end = len(data) if end is None else end

    def raw(self, count, meaning=None):
        start, stop = self.position, self.position + count
        require(0 <= count and stop <= self.end, "bytes that end too early", start)
        self.position = stop
        if self.note and meaning and count:
            self.note(start, stop, meaning)
        return self.data[start:stop]

    def number(self, size, meaning, explain=str):
        value = int.from_bytes(self.raw(size), "little")
        if self.note and meaning:
            self.note(self.position - size, self.position, f"{meaning}: {explain(value)}")
        return value

    def varint(self, meaning):
        start, value, shift = self.position, 0, 0
        while True:
            byte = self.raw(1)[0]
            require(shift < 63 or byte <= 1, "a number of more than 64 bits", start)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        require(byte or shift == 7, "a number in a longer form than needed", start)
        if self.note:
            self.note(start, self.position, f"{meaning}: {value}")
        return value

    def bytes(self, meaning):
        return self.raw(self.varint(f"length of {meaning}"), meaning)

    def text(self, meaning, limit=255):
        content = self.bytes(meaning)
        require(len(content) <= limit, f"{meaning} that is too long", self.position)
        try:
            return bytes(content).decode("utf-8")
        except UnicodeDecodeError:
            raise Damage(f"{meaning} that is no UTF-8 at offset {self.position}") from None

    @property
    def at_end(self):
        return self.position >= self.end


def at_distance(zigzag, end):
    """The offset that lies as far from `end` as a number with its sign in the lowest bit says."""
    return (end + ((zigzag >> 1) ^ -(zigzag & 1))) & MASK


def varint_length(value):
    return max(1, (value.bit_length() + 6) // 7)


class Store:
    def __init__(self, data, note=None):
        self.data, self.note = data, note
        self.met = collections.Counter()  # how often each construct of the format was met
        self.header = self.read_header()
        self.salt = self.header["salt"]

    # 3 File header

    def read_header(self):
        problem = None
        for block in (0, 1):
            try:
                return self.header_at(block * BLOCK)
            except Damage as error:
                problem = problem or error
        raise problem

    def header_at(self, start):
        fields = Fields(self.data, start, start + BLOCK, self.note)
        require(fields.raw(8, "magic") == b"Roost\n\x1a\0", "no file header", start)
        block = self.data[start:start + BLOCK]
        require(len(block) == BLOCK, "a file header that ends too early", start)
        checksum = int.from_bytes(block[4088:], "little")
        require(checksum_of(block[:4088], 0) == checksum, "a damaged file header", start)
        version = fields.number(4, "format version")
        require(version == 1, f"an unknown format version ({version})", start)
        fields.raw(4)
        fields.number(8, "features that may be ignored", hex)
        fields.number(8, "features that forbid writing", hex)
        forbidding = fields.number(8, "features that forbid everything", hex)
        require(forbidding == 0, f"unknown features ({forbidding}), perhaps encryption", start)
        header = {"store": bytes(fields.raw(16, "store identifier")).hex()}
        header["file"] = bytes(fields.raw(16, "file identifier")).hex()
        header["salt"] = fields.number(8, "salt", hex)
        header["created"] = fields.number(8, "made at")
        header["generation"] = fields.number(8, "generation")
        fields.raw(4)
        length = fields.number(4, "length of the transform's parameters")
        require(length <= 2048, "transform parameters that are too long", start)
        fields.raw(length, "transform parameters")
        fields.position = start + 4088
        fields.number(8, "checksum", hex)
        return header

    # 4 Commits

    def record(self, offset, note=None):
        """The commit record at `offset`, None where there is none."""
        data = self.data[offset:offset + RECORD_SIZE]
        if offset < FIRST_COMMIT or len(data) < RECORD_SIZE or data[:8] != b"RsCommit":
            return None
        if checksum_of(data[:184], self.salt + offset) != int.from_bytes(data[184:], "little"):
            return None
        fields = Fields(self.data, offset, offset + RECORD_SIZE, note)
        fields.raw(8, "magic of a commit record")
        record = {"kind": fields.number(1, "kind", lambda kind: f"{kind}, {COMMIT_KINDS.get(kind)}")}
        fields.raw(7)
        for name in ("number", "offset", "start", "previous", "previous checksum", "checkpoint",
                     "replay after", "synced end", "time"):
            record[name] = fields.number(8, name, hex if "checksum" in name else str)
        places = [fields.number(8, f"offset of the {name}") for name in ("last operations", "directory")]
        lengths = [fields.number(4, f"length of the {name}") for name in ("last operations", "directory")]
        chunks = [place if place[1] else None for place in zip(places, lengths)]
        record["operations"], record["directory"] = chunks
        record["content checksum"] = fields.number(8, "checksum of the commit's content", hex)
        record["live bytes"] = fields.number(8, "live bytes")
        fields.raw(32 + 24)
        record["checksum"] = fields.number(8, "checksum", hex)
        return record if self.is_consistent(record, offset) else None

    @staticmethod
    def is_consistent(record, offset):
        start, end = record["start"], record["offset"] + RECORD_SIZE
        is_checkpoint = record["kind"] == CHECKPOINT
        return (
            record["offset"] == offset < 1 << 48 and record["kind"] in COMMIT_KINDS and record["number"] < 1 << 63
            and end % BLOCK == 0 and start % BLOCK == 0 and FIRST_COMMIT <= start < offset
            and record["synced end"] <= start
            and (record["previous"] == 0) == (start == FIRST_COMMIT)
            and (record["previous"] == 0 or record["previous"] + RECORD_SIZE == start)
            and 0 < record["checkpoint"] <= offset and record["replay after"] <= offset
            and is_checkpoint == (record["checkpoint"] == offset) == (record["directory"] is not None)
            and all(start <= chunk[0] and chunk[0] + chunk[1] <= offset
                    for chunk in (record["operations"], record["directory"]) if chunk))

    def previous(self, record):
        """The record before, None where the chain breaks."""
        before = self.record(record["previous"])
        return before if before and before["checksum"] == record["previous checksum"] else None

    # 5 Chunks

    def chunk(self, place, kind, note=None):
        """The payload of a chunk as Fields."""
        return self.flagged_chunk(place, kind, note)[0]

    def flagged_chunk(self, place, kind, note=None):
        """The payload of a chunk as Fields, and what form it has: 0, PACKED or CHANGES."""
        offset, length = place
        require(length >= 6 and offset + length <= len(self.data), "a chunk beyond the file's end", offset)
        fields = Fields(self.data, offset, offset + length, note)
        checksum = fields.number(4, "checksum of a chunk", hex)
        require(checksum_of(self.data[offset + 4:offset + length], self.salt + offset) & 0xFFFFFFFF == checksum,
                "a chunk with a wrong checksum", offset)
        flags = fields.number(1, "kind and flags", lambda value: f"{value:#x}, {CHUNK_KINDS.get(value & 15)}")
        require(flags & 0x0F == kind, f"a chunk of another kind than {CHUNK_KINDS[kind]}", offset)
        form = flags & (PACKED | CHANGES)
        require(form != PACKED | CHANGES, "a chunk with unknown flags", offset)
        require(form == 0 or kind == NODE, "a packed chunk", offset)
        require(flags & TRANSFORMED == 0, "a transformed chunk", offset)
        stored = fields.varint("length of the payload")
        require(fields.position + stored == offset + length, "a chunk of another length", offset)
        if flags & COMPRESSED == 0:
            return fields, form
        self.met["compressed " + CHUNK_KINDS[kind]] += 1
        size = fields.varint("length before compression")
        require(size <= min(1 << 30, 1032 * stored), "a wrong length before compression", offset)
        try:
            stream = zlib.decompressobj()
            payload = stream.decompress(fields.raw(fields.end - fields.position, "zlib data"), size + 1)
        except zlib.error as error:
            raise Damage(f"{error} at offset {offset}") from None
        require(len(payload) == size and stream.eof, "compressed bytes of another length", offset)
        return Fields(payload), form

    def value(self, place):
        fields = self.chunk(place, VALUE)
        return fields.raw(fields.end - fields.position)

    # 7 Nodes

    def node(self, place, note=None):
        """Level and items of a node: (key, entry) in a leaf, (separator, child) in a branch node."""
        fields, form = self.flagged_chunk(place, NODE, note)
        if form == CHANGES:
            return 0, self.changed_leaf(fields, place)[1]
        if form == PACKED:
            self.met["packed leaf"] += 1
            items = self.packed_leaf(fields)
            self.check_order(0, items, place)
            return 0, items
        page = fields.position
        level = fields.number(1, "level")
        require(level <= 40 and fields.number(1, None) == 0, "a malformed node", place[0])
        count = fields.number(2, "count")
        prefix_length = fields.number(2, "length of the prefix")
        require(fields.number(2, None) == 0, "a malformed node", place[0])
        prefix = fields.raw(prefix_length, "prefix")
        slots = []
        for index in range(count):
            head = fields.raw(4, f"slot {index}: head")
            length = fields.number(2, "length of the suffix")
            slots.append((head, length, fields.number(2, "offset of the cell")))
        items = []
        for head, length, cell in slots:
            fields.position = page + cell
            key = prefix + bytes(reversed(head))[:length] + fields.raw(max(length - 4, 0), "rest of the key")
            items.append((key, self.leaf_cell(fields) if level == 0 else self.inner_cell(fields, place)))
        self.check_order(level, items, place)
        return level, items

    # 7.4 Packed leaves

    def packed_leaf(self, fields):
        size = fields.varint("length of the page")
        count, prefix = fields.varint("count"), bytes(fields.bytes("prefix"))
        require(size <= 65535 and count <= size, "a packed leaf that is too long", fields.position)
        length = 8 + len(prefix)
        suffix, inline, chunk, items = b"", b"", (0, 0), []
        for index in range(count):
            control = fields.number(2, f"entry {index}: control", hex)
            kind = control & 3
            suffix = self.packed_bytes(fields, suffix, control >> 6 & 31, control & 4, "the suffix")
            inline = self.packed_bytes(fields, inline, control >> 11, control & 8, "the inline bytes")
            length += 8 + max(len(suffix) - 4, 0) + 1 + varint_length(len(inline)) + len(inline)
            if kind:
                chunk = self.packed_chunk(fields, control, chunk)
                length += 6 + varint_length(chunk[1])
            items.append((prefix + suffix, (kind, inline, chunk if kind else None)))
        require(fields.at_end and length == size, "a packed leaf of another length", fields.position)
        return items

    # 7.5 Changes of leaves

    def changed_leaf(self, fields, place):
        """Where the whole leaf stands, and the items with the changes made."""
        self.met["changes of a leaf"] += 1
        require(place[1] <= 1024, "changes of a leaf that are too long", place[0])
        where = fields.number(6, "offset of the leaf"), fields.varint("length of the leaf")
        require(where[0] < place[0], "a leaf after its changes", place[0])
        deletions = fields.bytes("deletions")
        changes = self.packed_leaf(fields)
        self.check_order(0, changes, place)
        marked = int.from_bytes(deletions, "little")
        require(len(deletions) in (0, (len(changes) + 7) // 8) and marked >> len(changes) == 0,
                "deletions of another length", place[0])
        fields, form = self.flagged_chunk(where, NODE)
        require(form != CHANGES, "changes in the place of a leaf", where[0])
        level, items = self.node(where)
        require(level == 0, "changes of a branch node", where[0])
        items = dict(items)
        for index, (key, entry) in enumerate(changes):
            if marked >> index & 1:
                self.met["deletion from a leaf"] += 1
                require(entry == (0, b"", None), "a deletion with an entry", place[0])
                items.pop(key, None)
            else:
                items[key] = entry
        return where, sorted(items.items())

    def chunks_length(self, place):
        """How many bytes the chunks of a node take."""
        fields, form = self.flagged_chunk(place, NODE)
        return place[1] + (self.changed_leaf(fields, place)[0][1] if form == CHANGES else 0)

    @staticmethod
    def packed_bytes(fields, before, shared, has_same_length, meaning):
        if shared == 31:
            shared = fields.varint(f"bytes in common at the start of {meaning}")
        length = len(before) if has_same_length else fields.varint(f"length of {meaning}")
        require(shared <= min(len(before), length), "more in common than there is", fields.position)
        return before[:shared] + bytes(fields.raw(length - shared, f"rest of {meaning}"))

    @staticmethod
    def packed_chunk(fields, control, before):
        offset, length = sum(before), before[1]
        if control & 32 == 0:
            zigzag = fields.varint("distance of the value, zigzag")
            offset = at_distance(zigzag, offset)
        if control & 16 == 0:
            length = fields.varint("length of the value")
        require(offset < 1 << 48 and length < 1 << 32, "a malformed reference", fields.position)
        return offset, length

    @staticmethod
    def check_order(level, items, place):
        keys = [key for key, _ in (items[1:] if level else items)]
        require(all(a < b for a, b in zip(keys, keys[1:])), "keys out of order", place[0])
        require(level == 0 or items, "a branch node without children", place[0])

    @staticmethod
    def leaf_cell(fields):
        kind = fields.number(1, "reference kind", lambda kind: f"{kind}, {REFERENCE_KINDS[kind & 3]}") & 3
        inline = fields.bytes("inline bytes")
        if kind == 0:
            return kind, bytes(inline), None
        return kind, bytes(inline), (fields.number(6, "offset of the value"), fields.varint("length of the value"))

    @staticmethod
    def inner_cell(fields, parent):
        place = (fields.number(6, "offset of the child"), fields.varint("length of the child"))
        require(place[0] < parent[0], "a child after its parent", parent[0])
        summary = (fields.varint("entries below"), fields.varint("bytes below"))
        require(len(fields.bytes("reduction")) <= 255, "a reduction that is too long", parent[0])
        return place, summary

    def walk(self, place, level, lower, upper, entries):
        """Adds all entries below a node to `entries`; returns its count and bytes, having checked them."""
        actual, items = self.node(place)
        self.met["branch node" if actual else "leaf"] += 1
        require(actual == level, "a node of another level", place[0])
        total, size = 0, self.chunks_length(place)
        if level == 0:
            for key, entry in items:
                require(lower <= key and (upper is None or key < upper), "a key outside its node", place[0])
                entries[key] = entry
                size += entry[2][1] if entry[0] in (1, 2) else 0
            return len(items), size
        bounds = [lower] + [key for key, _ in items[1:]] + [upper]
        for index, (_, (child, summary)) in enumerate(items):
            found = self.walk(child, level - 1, bounds[index], bounds[index + 1], entries)
            require(found == summary, "a wrong summary", place[0])
            total, size = total + found[0], size + found[1]
        return total, size

    # 9 Root directory

    def directory(self, place, note=None):
        """The next tree's number, and by number: name, reduction's name, root."""
        fields = self.chunk(place, DIRECTORY, note)
        next_number, trees, last = fields.varint("number of the next new tree"), {}, 0
        require(1 <= next_number < 1 << 63, "a wrong number of the next new tree", place[0])
        for _ in range(fields.varint("trees")):
            number = fields.varint("number of a tree")
            require(last < number < next_number, "a wrong tree number", place[0])
            last, name, reduction = number, fields.text("name"), fields.text("name of the reduction")
            require(name, "a tree without a name", place[0])
            require(name not in [tree[0] for tree in trees.values()], "two trees of one name", place[0])
            has_root, root = fields.number(1, "has a root"), None
            require(has_root <= 1, "a malformed directory", place[0])
            if has_root:
                level = fields.number(1, "level of the root")
                where = (fields.varint("offset of the root"), fields.varint("length of the root"))
                require(level <= 40 and where[0] < place[0], "a malformed root", place[0])
                root = (level, where, (fields.varint("entries"), fields.varint("bytes")))
                fields.bytes("reduction")
            trees[number] = (name, reduction, root)
        return next_number, trees

    # 8 Operations

    def operation_chunks(self, record):
        chunks, place = [], record["operations"]
        while place:
            chunks.append(place)
            fields = self.chunk(place, OPERATIONS)
            before = (fields.number(8, None), fields.number(4, None))
            require(before[1] == 0 or before[0] < place[0], "operations in the wrong order", place[0])
            place = before if before[1] else None
        return chunks[::-1]

    def sections(self, place, note=None):
        fields = self.chunk(place, OPERATIONS, note)
        fields.number(8, "offset of the operations before")
        fields.number(4, "length of the operations before")
        while not fields.at_end:
            tree = fields.varint("tree")
            end = fields.varint("length of its operations") + fields.position
            require(end <= fields.end, "a section that is too long", place[0])
            section = Fields(fields.data, fields.position, end, fields.note)
            yield tree, self.tree_operations(section) if tree == 0 else self.operations(section)
            fields.position = end

    @staticmethod
    def tree_operations(fields):
        while not fields.at_end:
            code = fields.number(
                1, "operation", lambda code: f"{code:#x}, {'drop' if code == DROP else 'make'} a tree")
            require(code in (MAKE, DROP), "an unknown operation", fields.position)
            number = fields.varint("number")
            names = (fields.text("name"), fields.text("name of the reduction")) if code == MAKE else None
            yield number, names

    @staticmethod
    def operation_code(code):
        """The code without the reference kind that "put" has in it."""
        return PUT if code & ~3 == PUT else code

    def operations(self, fields):
        """Tuples that begin with the operation's code without a reference kind."""
        last_key, last_end = b"", 0
        while not fields.at_end:
            full = fields.number(
                1, "operation", lambda code: f"{code:#x}, {OPERATION_NAMES.get(self.operation_code(code))}")
            code = self.operation_code(full)
            require(code in OPERATION_NAMES, f"an unknown operation ({code:#x})", fields.position)
            if code == DELETE_RANGE:
                bounds = fields.number(1, "bounds")
                require(bounds <= 3, "a malformed range", fields.position)
                lower = bytes(fields.bytes("lower bound")) if bounds & 1 else None
                yield code, lower, bytes(fields.bytes("upper bound")) if bounds & 2 else None
                continue
            inline = place = None
            if code != APPEND_LEAF:
                shared = fields.varint("bytes in common with the key before")
                require(shared <= len(last_key), "a malformed key", fields.position)
                last_key = last_key[:shared] + bytes(fields.bytes("rest of the key"))
            if code == PUT:
                inline = bytes(fields.bytes("inline bytes"))
            if code == APPEND_LEAF or full & 3 and code == PUT:
                zigzag = fields.varint("distance of the chunk, zigzag")
                offset = at_distance(zigzag, last_end)
                place = (offset, fields.varint("length of the chunk"))
                last_end = sum(place)
            if code == APPEND_LEAF:
                yield code, place
            elif code == PUT:
                yield code, last_key, (full & 3, inline, place)
            else:
                yield code, last_key

    # 10 Opening a file

    def last_commit(self):
        end = len(self.data) // BLOCK * BLOCK
        has_barrier = False
        while end > FIRST_COMMIT:
            record = self.record(end - RECORD_SIZE)
            if record and record["kind"] == BARRIER:
                end = record["start"]
                has_barrier = True
                continue
            if record and self.is_whole(record):
                require(has_barrier or not self.has_later_synced(end), "synced commits are missing", end)
                return record
            end -= BLOCK
        raise Damage("no whole commit")

    def has_later_synced(self, end):
        """Whether a record behind `end`, at whatever place, says that bytes behind `end` were synced."""
        place = self.data.find(b"RsCommit", end)
        while place >= 0:
            data = self.data[place:place + RECORD_SIZE]
            if (len(data) == RECORD_SIZE and word(data, 72) > end and data[8] != BARRIER
                    and checksum_of(data[:184], self.salt + word(data, 24)) == word(data, 184)):
                return True
            place = self.data.find(b"RsCommit", place + 1)
        return False

    def is_whole(self, record):
        current = record
        while True:
            content = self.data[current["start"]:current["offset"]]
            if checksum_of(content, self.salt) != current["content checksum"]:
                return False
            if current["previous"] == 0:
                return True
            before = self.previous(current)
            if before is None:
                require(current["start"] > record["synced end"], "a missing record", current["previous"])
                return False
            if current["start"] <= record["synced end"]:
                return True
            current = before

    def state(self, record):
        """The trees as of the commit of `record`, by number: [name, reduction's name, entries]."""
        checkpoint = self.record(record["checkpoint"])
        require(checkpoint and checkpoint["kind"] == CHECKPOINT, "no checkpoint", record["checkpoint"])
        next_number, directory = self.directory(checkpoint["directory"])
        trees = {}
        for number, (name, reduction, root) in directory.items():
            trees[number] = [name, reduction, {}]
            if root:
                level, place, summary = root
                found = self.walk(place, level, b"", None, trees[number][2])
                require(found == summary, "a wrong summary", place[0])
        records = []
        while record["offset"] > checkpoint["replay after"]:
            records.append(record)
            if record["previous"] == 0:
                break
            before = self.previous(record)
            require(before and before["number"] < record["number"], "a missing record", record["previous"])
            record = before
        self.met["commit to replay"] += len(records)
        self.met["checkpoint of several commits"] += checkpoint["replay after"] < checkpoint["offset"]
        for record in reversed(records):
            for place in self.operation_chunks(record):
                for tree, operations in self.sections(place):
                    if tree == 0:
                        next_number = self.replay_trees(operations, trees, next_number)
                    else:
                        entries = trees[tree][2] if tree in trees else {}
                        self.replay(operations, entries, place)
        return trees

    @staticmethod
    def replay_trees(operations, trees, next_number):
        for number, names in operations:
            if names is None:
                trees.pop(number, None)
                continue
            require(1 <= number < (1 << 63) - 1, "a wrong tree number")
            if number >= next_number:
                require(names[0], "a tree without a name")
                require(names[0] not in [tree[0] for tree in trees.values()], "a tree that is made twice")
                trees[number] = [names[0], names[1], {}]
                next_number = number + 1
        return next_number

    def replay(self, operations, entries, place):
        for code, *what in operations:
            self.met[OPERATION_NAMES[code]] += 1
            if code == PUT:
                entries[what[0]] = what[1]
            elif code == DELETE:
                entries.pop(what[0], None)
            elif code == DELETE_RANGE:
                self.delete_range(entries, *what)
            else:
                leaf = what[0]
                require(leaf[0] < place[0], "operations that name a later leaf", place[0])
                level, items = self.node(leaf)
                require(level == 0 and items, "an empty leaf", leaf[0])
                self.delete_range(entries, items[0][0], None)
                entries.update(items)

    @staticmethod
    def delete_range(entries, lower, upper):
        for key in [key for key in entries
                    if (lower is None or key >= lower) and (upper is None or key < upper)]:
            del entries[key]

    def listing(self):
        record = self.last_commit()
        trees = []
        for number, (name, reduction, entries) in sorted(self.state(record).items()):
            rows = []
            for key, (kind, inline, place) in sorted(entries.items()):
                row = {"key": key.hex(), "reference": REFERENCE_KINDS[kind], "inline": inline.hex()}
                if kind:
                    row["value"] = bytes(self.value(place)).hex()
                rows.append(row)
            trees.append({"number": number, "name": name, "reduction": reduction, "entries": rows})
        return {"commit": record["number"], "header": self.header, "trees": trees, "met": self.met}


def main(arguments):
    files = [argument for argument in arguments if argument != "--json"]
    if len(files) != 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        with open(files[0], "rb") as file:
            listing = Store(file.read()).listing()
    except (Damage, OSError) as error:
        print(f"{files[0]}: {error}", file=sys.stderr)
        return 1
    if "--json" in arguments:
        json.dump(listing, sys.stdout)
        return 0
    for tree in listing["trees"]:
        print(f"{tree['name']}: {len(tree['entries'])} entries")
        for row in tree["entries"]:
            print(f"  {row['key']}  {row.get('value', row['inline'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
