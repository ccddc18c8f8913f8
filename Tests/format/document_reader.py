#!/usr/bin/env python3
"""Lists the documents of a Roost database, by following FileFormat.md and nothing else.

usage: document_reader.py [--json] DIRECTORY

Prints every collection with its documents, their revisions and bodies, its changes and what else it holds; with --json
the same as data. Checks on the way that what is said twice agrees. Exit status 1: the database is damaged or cannot be
read; 2: it was called wrongly.

Section numbers in comments are FileFormat.md's. It reads stores with roost_reader.py, whole and into memory: it is a
proof that the document suffices, not a tool for large databases.
"""

import base64
import hashlib
import json
import os
import struct
import sys

from roost_reader import Damage, Fields, Store, require

DELETED, CONFLICTED, ATTACHMENTS, SINGLE, ELSEWHERE, EXPIRES, SEVERAL_LEAVES = (1 << bit for bit in range(7))
SHOWN_IN_CHANGES = DELETED | CONFLICTED | ATTACHMENTS | SEVERAL_LEAVES
FURTHER, CHAIN, ROOT, TEXT = 4, 16, 32, 64
PURGES_KEPT = 1000


def be(data):
    return int.from_bytes(data, "big")


# 19.6 Bodies: Fleece

class Data(bytes):
    """The kind of value that JSON has not."""


class Fleece:
    def __init__(self, data):
        self.data = bytes(data)
        require(len(self.data) >= 2 and len(self.data) % 2 == 0, "a body that ends within a value")

    def root(self):
        return self.item(len(self.data) - 2, False)

    def head(self, place):
        require(0 <= place <= len(self.data) - 2, "a value outside its body", place)
        return be(self.data[place:place + 2])

    def item(self, place, wide):
        head = self.head(place)
        if head & 0x8000 == 0:
            return self.value(place)
        if wide:
            distance = be(self.data[place:place + 4]) & 0x7FFFFFFF
        else:
            distance = head & 0x7FFF
        target = place - 2 * distance
        require(distance > 0 and target >= 0, "a pointer out of its body", place)
        if self.head(target) & 0x8000:
            require(not wide, "a pointer to a pointer to a pointer", place)
            return self.item(target, True)
        return self.value(target)

    def counted(self, place, count, limit):
        """The count, with the varint that follows where it is `limit`, and where the rest begins."""
        if count < limit:
            return count, place
        fields = Fields(self.data, place)
        return fields.varint("length"), fields.position

    def value(self, place):
        head = self.head(place)
        kind = head >> 12
        if kind == 0:
            return head - 0x1000 if head & 0x0800 else head
        if kind == 1:
            length = (head >> 8 & 7) + 1
            return int.from_bytes(self.raw(place + 1, length), "little", signed=head & 0x0800 == 0)
        if kind == 2:
            size, form = (8, "<d") if head & 0x0800 else (4, "<f")
            return struct.unpack(form, self.raw(place + 2, size))[0]
        if kind == 3:
            special = head >> 10 & 3
            require(special < 3, "an undefined value", place)
            return (None, False, True)[special]
        if kind in (4, 5):
            length, start = self.counted(place + 1, head >> 8 & 15, 15)
            content = self.raw(start, length)
            return content.decode("utf-8") if kind == 4 else Data(content)
        count, start = head & 0x07FF, place + 2
        if count == 0x07FF:
            more, end = self.counted(start, count, count)
            count, start = count + more, end + (end - start) % 2
        wide = head & 0x0800 != 0
        size = 4 if wide else 2
        require(start + count * size * (kind - 5) <= len(self.data), "a collection beyond its body", place)
        if kind == 6:
            return [self.item(start + index * size, wide) for index in range(count)]
        pairs = [(self.item(start + index * 2 * size, wide), self.item(start + (index * 2 + 1) * size, wide))
                 for index in range(count)]
        keys = [key for key, _ in pairs]
        require(all(type(key) is str for key in keys), "a key that is no text", place)
        encoded = [key.encode("utf-8") for key in keys]
        require(all(a < b for a, b in zip(encoded, encoded[1:])), "keys out of order", place)
        return dict(pairs)

    def raw(self, start, length):
        require(start + length <= len(self.data), "a value beyond its body", start)
        return self.data[start:start + length]


def dictionary(data):
    value = Fleece(data).root()
    require(type(value) is dict, "a body that is no dictionary")
    return value


def body(data):
    """The properties and the attachments of a stored body."""
    fields = Fields(bytes(data))
    form = fields.number(1, None)
    require(form in (1, 2), f"a body of an unknown format ({form})")
    attachments = dictionary(fields.bytes(None)) if form == 2 else {}
    for attachment in attachments.values():
        for name in ("md5", "encoded_md5"):
            require(name not in attachment or len(attachment[name]) == 16, "an MD5 of another length")
        require(("encoding" in attachment) == ("encoded_md5" in attachment), "an attachment that contradicts itself")
    return dictionary(fields.data[fields.position:]), attachments


def canonical(value):
    """JSON that is the same for the same value; data stands between < and >."""
    if isinstance(value, Data):
        return "<" + base64.b64encode(value).decode("ascii") + ">"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-8"))
        return "{" + ",".join(text(key) + ":" + canonical(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(element) for element in value) + "]"
    return text(value) if isinstance(value, str) else json.dumps(value)


def text(value):
    return json.dumps(value, ensure_ascii=False)


# 19.3 Revisions

def varint(number):
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7) if number > 0x7F else bytes([number])


def canonical_form(value):
    """The bytes that digests are made of."""
    if value is None or isinstance(value, bool):
        return bytes([0 if value is None else 2 if value else 1])
    if isinstance(value, int):
        return b"\x03" + struct.pack("<q", value) if value < 1 << 63 else b"\x04" + struct.pack("<Q", value)
    if isinstance(value, float):
        return b"\x05" + struct.pack("<d", value)
    if isinstance(value, str):
        encoded = value.encode("utf-8")
        return b"\x06" + varint(len(encoded)) + encoded
    if isinstance(value, Data):
        return b"\x07" + varint(len(value)) + value
    if isinstance(value, list):
        return b"\x08" + b"".join(canonical_form(element) for element in value) + b"\x0a"
    keys = sorted(value, key=lambda key: key.encode("utf-8"))
    return b"\x09" + b"".join(canonical_form(key) + canonical_form(value[key]) for key in keys) + b"\x0a"

class Revision:
    def __init__(self, generation, digest, is_text):
        require(1 <= generation < 1 << 63, "a generation that there is not")
        self.generation, self.digest, self.is_text = generation, bytes(digest), is_text
        if is_text:
            content = self.digest.decode("utf-8")
            require(1 <= len(self.digest) <= 64, "a digest of another length")
            require(all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in content), "a control character")
            is_number = len(content) == 32 and all(c in "0123456789abcdefABCDEF" for c in content)
            require(not is_number, "a number as a text")
        else:
            require(len(self.digest) == 16, "a digest of another length")

    @classmethod
    def read(cls, data):
        fields = Fields(bytes(data))
        number = fields.varint(None)
        return cls(number >> 1, fields.data[fields.position:], number & 1 == 1)

    @property
    def order(self):
        return self.generation, self.digest, self.is_text

    @property
    def compact(self):
        number, encoded = self.generation << 1 | self.is_text, bytearray()
        while number > 127:
            encoded.append(number & 127 | 128)
            number >>= 7
        return bytes(encoded) + bytes([number]) + self.digest

    def __str__(self):
        return f"{self.generation}-{self.digest.decode('utf-8') if self.is_text else self.digest.hex()}"

    def __eq__(self, other):
        return self.order == other.order

    def __hash__(self):
        return hash(self.order)


def prefixed(fields):
    return Revision.read(fields.raw(fields.number(1, None)))


# 19.4 Revision trees

class Node:
    def __init__(self, revision, flags, parents, sequence):
        self.revision, self.flags, self.parents, self.sequence = revision, flags, parents, sequence
        self.is_leaf = True


def tree(data):
    """The nodes of a stored tree, highest first; parents are places in the list, the highest first."""
    fields = Fields(bytes(data))
    require(fields.number(1, None) == 1, "a revision tree of an unknown version")
    nodes, count, previous = [], fields.varint(None), None
    require(count <= 1 << 24, "too many revisions")
    for place in range(count):
        kind = fields.number(1, None)
        require(kind & 0x88 == 0 and (not kind & ROOT or not kind & (CHAIN | FURTHER)), "an unknown kind of revision")
        if previous is None:
            generation = fields.varint(None)
        else:
            generation = previous.revision.generation - (1 if previous_kind & CHAIN else fields.varint(None))
        is_text = kind & TEXT != 0
        revision = Revision(generation, fields.raw(fields.varint(None) if is_text else 16), is_text)
        distances = []
        if not kind & ROOT:
            distances.append(1 if kind & CHAIN else fields.varint(None))
            require(kind & CHAIN or distances[0] >= 2, "a parent that could be told shorter")
        if kind & FURTHER:
            number = fields.varint(None)
            require(number >= 1, "no further parents")
            distances += [fields.varint(None) for _ in range(number)]
        require(all(a < b for a, b in zip(distances, distances[1:])), "parents out of order")
        require(all(place + distance < count for distance in distances), "a parent that is not there")
        node = Node(revision, kind & (DELETED | 2), [place + distance for distance in distances], fields.varint(None))
        require(previous is None or revision.order < previous.revision.order, "revisions out of order")
        nodes.append(node)
        previous, previous_kind = node, kind
    require(fields.at_end, "bytes after a revision tree")
    for node in nodes:
        for parent in node.parents:
            require(nodes[parent].revision.generation == node.revision.generation - 1, "a parent of another generation")
            nodes[parent].is_leaf = False
    return nodes


def winning_order(leaves):
    live = [node for node in leaves if not node.flags & DELETED]
    return live + [node for node in leaves if node.flags & DELETED]


class Tree:
    """A tree of the store: inline bytes and what they lead to, by key."""

    def __init__(self, store, entries):
        self.store, self.entries = store, entries

    def __iter__(self):
        return iter(sorted(self.entries.items()))

    def leads_to(self, key):
        _, inline, place = self.entries[key]
        return inline if place is None else bytes(self.store.value(place))


class Database:
    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, "data.roost"), "rb") as file:
            self.store = Store(file.read())
        trees = self.store.state(self.store.last_commit()).values()
        self.trees = {name: Tree(self.store, entries) for name, _, entries in trees}
        require("catalog" in self.trees, "no catalog")

    # 19.1 The catalog

    def listing(self):
        catalog = self.trees["catalog"]
        fields = Fields(catalog.leads_to(b"database"))
        require(fields.number(1, None) == 1, "a database's record of an unknown version")
        listing = {"private": bytes(fields.raw(16)).hex(), "public": bytes(fields.raw(16)).hex(),
                   "made": fields.varint(None), "next": fields.varint(None),
                   "isCopy": os.path.exists(os.path.join(self.directory, "copy"))}
        listing["collections"] = {
            key[len(b"collection/"):].decode("ascii"): self.collection(catalog.leads_to(key), listing["next"])
            for key, _ in catalog if key.startswith(b"collection/")}
        require("_default._default" in listing["collections"], "no default collection")
        return listing

    def collection(self, record, next_number):
        fields = Fields(record)
        require(fields.number(1, None) == 1, "a collection's record of an unknown version")
        number, last, live, limit, made = (fields.varint(None) for _ in range(5))
        require(number < next_number and 1 <= limit <= 1 << 24, "a collection's record that cannot be")
        epoch, last_purge = be(fields.raw(8)), fields.varint(None)
        require(fields.at_end, "bytes after a collection's record")
        self.documents, self.changes, self.extras = (
            self.trees[f"{name}/{number}"] for name in ("documents", "changes", "extras"))
        self.used = set()
        documents = [self.document(key.decode("utf-8"), *entry) for key, entry in self.documents]
        self.check_changes(documents, last)
        require(live == sum(not document["deleted"] for document in documents), "a wrong number of documents")
        collection = {"lastSequence": last, "revisionLimit": limit, "made": made, "epoch": epoch,
                      "lastPurge": last_purge, "documents": documents}
        collection.update(self.other_extras(last_purge))
        require(self.used == set(self.extras.entries), "extras that belong to nothing")
        return collection

    def extra(self, key):
        require(key in self.extras.entries, "something missing among the extras")
        self.used.add(key)
        return self.extras.leads_to(key)

    # 19.2 Documents and changes

    def document(self, name, kind, inline, place):
        require(1 <= len(name.encode("utf-8")) <= 2048, "a document ID of another length")
        require(kind == 2, "a document that does not own its body")
        fields = Fields(inline)
        require(fields.number(1, None) == 1, "a document of an unknown version")
        flags, sequence = fields.number(1, None), fields.varint(None)
        expiration = fields.varint(None) if flags & EXPIRES else None
        winner = prefixed(fields)
        prefix = b"r" + len(name.encode("utf-8")).to_bytes(2, "big") + name.encode("utf-8")
        if flags & SINGLE:
            require(fields.at_end, "a tree that need not be there")
            nodes = [Node(winner, flags & DELETED | (2 if flags & ATTACHMENTS else 0), [], sequence)]
        elif flags & ELSEWHERE:
            require(fields.at_end, "two trees")
            stored = self.extra(prefix)
            require(len(stored) > 512, "a short tree among the extras")
            nodes = tree(stored)
        else:
            require(len(inline) - fields.position <= 512, "a long tree in an entry")
            nodes = tree(inline[fields.position:])
        leaves = winning_order([node for node in nodes if node.is_leaf])
        require(leaves[0].revision == winner, "another winner than the tree says")
        require(bool(flags & DELETED) == bool(leaves[0].flags & DELETED), "a wrong flag")
        require(bool(flags & ATTACHMENTS) == bool(leaves[0].flags & 2), "a wrong flag")
        require(bool(flags & SEVERAL_LEAVES) == (len(leaves) > 1), "a wrong flag")
        live = [leaf for leaf in leaves if not leaf.flags & DELETED]
        require(bool(flags & CONFLICTED) == (len(live) > 1), "a wrong flag")
        if expiration is not None:
            self.extra(b"e" + expiration.to_bytes(8, "big") + name.encode("utf-8"))
        found = []
        for leaf in leaves:
            if leaf.revision == winner:
                stored = bytes(self.store.value(place))
            else:
                stored = self.extra(prefix + leaf.revision.compact)
            properties, attachments = body(stored)
            require(bool(leaf.flags & 2) == bool(attachments), "a wrong flag")
            found.append({"rev": str(leaf.revision), "deleted": bool(leaf.flags & DELETED),
                          "digest": self.digest(nodes, leaf, properties, attachments).hex(),
                          "body": canonical(properties), "attachments": canonical(attachments)})
        return {"id": name, "sequence": sequence, "expiration": expiration, "deleted": bool(flags & DELETED),
                "flags": flags & SHOWN_IN_CHANGES, "winner": winner.compact.hex(), "place": place, "leaves": found,
                "revisions": [{"rev": str(node.revision), "sequence": node.sequence,
                               "parents": [str(nodes[parent].revision) for parent in node.parents]} for node in nodes]}

    @staticmethod
    def digest(nodes, leaf, properties, attachments):
        """What Roost would call an edit that made this leaf."""
        parent = nodes[leaf.parents[0]].revision.compact if leaf.parents else b""
        head = bytes([len(parent)]) + parent + bytes([leaf.flags & DELETED, len(attachments)])
        for name in sorted(attachments, key=lambda name: name.encode("utf-8")):
            for part in (name, attachments[name]["digest"]):
                head += bytes([len(part.encode("utf-8"))]) + part.encode("utf-8")
        return hashlib.sha256(head + canonical_form(properties)).digest()[:16]

    def check_changes(self, documents, last):
        expected = {}
        for document in documents:
            winner = bytes.fromhex(document.pop("winner"))
            inline = bytes([1, document["flags"], len(winner)]) + winner + document["id"].encode("utf-8")
            expected[document["sequence"].to_bytes(8, "big")] = (3, inline, document.pop("place"))
            require(document["sequence"] <= last, "a sequence that was not given")
        require(expected == self.changes.entries, "changes that contradict the documents")

    # 19.5 Extras

    def other_extras(self, last_purge):
        found = {"local": [], "metadata": {}, "purges": []}
        for key, _ in self.extras:
            fields = Fields(self.extras.leads_to(key))
            kind = key[:1]
            if kind == b"l":
                require(fields.number(1, None) == 1, "a local document of an unknown version")
                revision = fields.varint(None)
                properties, _ = body(fields.data[fields.position:])
                found["local"].append(
                    {"name": key[1:].decode("utf-8"), "revision": revision, "body": canonical(properties)})
            elif kind == b"m":
                found["metadata"][key[1:].decode("utf-8")] = bytes(fields.data).hex()
            elif kind == b"c":
                pass
            elif kind == b"p":
                require(fields.number(1, None) == 1, "a purge of an unknown version")
                purge = {"sequence": be(key[1:]), "id": fields.text(None, limit=2048), "revs": []}
                while not fields.at_end:
                    purge["revs"].append(str(prefixed(fields)))
                found["purges"].append(purge)
            elif kind == b"o":
                length = be(key[1:3])
                require(len(key) > 3 + length, "an earlier revision of no document")
                key[3:3 + length].decode("utf-8")
                body(bytes(self.extras.leads_to(key)))
            else:
                continue
            self.used.add(key)
        first = max(0, last_purge - PURGES_KEPT) + 1
        numbers = [purge["sequence"] for purge in found["purges"]]
        require(numbers == list(range(first, last_purge + 1)), "purges that are missing")
        return found


def main(arguments):
    names = [argument for argument in arguments if argument != "--json"]
    if len(names) != 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        listing = Database(names[0]).listing()
    except (Damage, OSError, UnicodeDecodeError, KeyError) as error:
        print(f"{names[0]}: {error}", file=sys.stderr)
        return 1
    if "--json" in arguments:
        json.dump(listing, sys.stdout)
        return 0
    for name, collection in listing["collections"].items():
        print(f"{name}: {len(collection['documents'])} documents")
        for document in collection["documents"]:
            for leaf in document["leaves"]:
                print(f"  {document['id']} {leaf['rev']}{', deleted' if leaf['deleted'] else ''}  {leaf['body']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
