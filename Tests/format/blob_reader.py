#!/usr/bin/env python3
"""Reads blobs by following section 18 of FileFormat.md and nothing else, and verifies them.

usage: blob_reader.py [--keys HEX] FILE...

Prints a list: of each blob its digest, encoding and content, in hexadecimal. Encrypted blobs need the store's keys, each
of 64 hexadecimal digits, oldest first, without anything between them. Exit status 1: a blob is damaged or cannot be read;
2: it was called wrongly.

It needs Python 3.8 and nothing else, so AES (FIPS 197) and GCM (NIST SP 800-38D) are here as well: slow, not in constant
time, and only for reading a few kilobytes.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import zlib

from roost_reader import Damage, Fields, require

FRAME, TAG, HEADER = 4096, 16, 120
ALGORITHMS = {1: "sha1", 2: "sha256"}
NAME_LENGTHS = {28: "sha1", 44: "sha256"}


# AES-256 (FIPS 197)

def double(x):
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def substitution():
    """The S-box: the inverse in the field, from powers of the generator 3, and an affine map."""
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ double(powers[-1]))
    table = [0x63] * 256
    for exponent, x in enumerate(powers):
        inverse = powers[-exponent % 255]
        for count in range(5):
            table[x] ^= ((inverse << count) | (inverse >> (8 - count))) & 0xFF
    return table


SBOX = substitution()


def round_keys(key):
    words = [key[i:i + 4] for i in range(0, 32, 4)]
    constant = 1
    for index in range(8, 60):
        word = words[-1]
        if index % 8 == 0:
            word = bytes(SBOX[x] for x in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = double(constant)
        elif index % 8 == 4:
            word = bytes(SBOX[x] for x in word)
        words.append(xor(words[-8], word))
    return [b"".join(words[i:i + 4]) for i in range(0, 60, 4)]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def encrypt(keys, block):
    state = xor(block, keys[0])
    for number in range(1, 15):
        # Row r of column c comes from column c + r.
        state = bytes(SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number < 14:
            state = bytes(
                double(state[i]) ^ double(state[i & ~3 | (i + 1) & 3]) ^ state[i & ~3 | (i + 1) & 3]
                ^ state[i & ~3 | (i + 2) & 3] ^ state[i & ~3 | (i + 3) & 3] for i in range(16))
        state = xor(state, keys[number])
    return state


# AES-GCM (NIST SP 800-38D)

def multiply(x, y):
    """In the field of 2^128 elements, where the first bit is the coefficient of 1."""
    product = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            product ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return product


def unseal(key, nonce, sealed, associated, what):
    keys = round_keys(key)
    text, tag = sealed[:-TAG], sealed[-TAG:]
    h, sum = int.from_bytes(encrypt(keys, bytes(16)), "big"), 0
    lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
    padded = [part + bytes(-len(part) % 16) for part in (associated, text)]
    hashed = b"".join(padded) + lengths
    for start in range(0, len(hashed), 16):
        sum = multiply(sum ^ int.from_bytes(hashed[start:start + 16], "big"), h)
    first = encrypt(keys, nonce + (1).to_bytes(4, "big"))
    require(hmac.compare_digest(xor(first, sum.to_bytes(16, "big")), tag), f"{what}: a tag that does not verify")
    return b"".join(
        xor(text[start:start + 16], encrypt(keys, nonce + (start // 16 + 2).to_bytes(4, "big")))
        for start in range(0, len(text), 16))


# 18.1 Encrypted blobs

def derive(key, salt, info):
    """HKDF-SHA-256 (RFC 5869), 32 bytes."""
    secret = hmac.new(salt or bytes(32), key, "sha256").digest()
    return hmac.new(secret, info + b"\x01", "sha256").digest()


def sealed_name(keys, algorithm, digest):
    name_key = derive(keys[0], b"", b"Roost blob names")
    return hmac.new(name_key, bytes([algorithm]) + digest, "sha256").hexdigest()[:40] + ".sealed"


def read_sealed(name, data, keys):
    fields = Fields(data)
    require(fields.raw(8) == b"RoostBlb", "no encrypted blob", 0)
    require(fields.number(2, None) == 1, "an unknown version", 8)
    number = fields.number(2, None)
    require(number < len(keys), f"key {number} is needed", 10)
    fields.raw(4)
    salt = fields.raw(32)
    header_key, frame_key = (derive(keys[number], salt, info) for info in (b"Roost blob header", b"Roost blob frames"))
    facts = Fields(unseal(header_key, bytes(12), fields.raw(56 + TAG), data[:48], "the header"))
    algorithm, is_gzip = facts.number(1, None), facts.number(1, None)
    require(algorithm in ALGORITHMS and is_gzip <= 1, "unknown facts", 48)
    is_damaged = facts.number(1, None)
    require(is_damaged == 0, "content that was damaged when it was encrypted", 48)
    facts.raw(5)
    stored_length, length = facts.number(8, None), facts.number(8, None)
    digest = facts.raw(hashlib.new(ALGORITHMS[algorithm]).digest_size)
    require(name == sealed_name(keys, algorithm, digest), "another blob than the name says")

    frames = 1 + max(0, -(-(stored_length - (FRAME - HEADER - TAG)) // (FRAME - TAG)))
    require(len(data) == HEADER + stored_length + TAG * frames, "another size than the header says")
    stored = b""
    for index in range(frames):
        frame = data[max(index * FRAME, HEADER):(index + 1) * FRAME]
        nonce = index.to_bytes(8, "little") + bytes([index == frames - 1, 0, 0, 0])
        stored += unseal(frame_key, nonce, frame, b"", f"frame {index}")
    return ALGORITHMS[algorithm], digest, "gzip" if is_gzip else "none", length, stored


# 18 Blobs

def read_plain(name, data):
    stem, _, ending = name.rpartition(".")
    require(ending in ("blob", "gz") and len(stem) in NAME_LENGTHS, "not the name of a blob")
    digest = base64.b64decode(stem.replace("_", "/"), validate=True)
    return NAME_LENGTHS[len(stem)], digest, "gzip" if ending == "gz" else "none", None, data


def read(path, keys):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        data = file.read()
    if name.endswith(".sealed"):
        algorithm, digest, encoding, length, stored = read_sealed(name, data, keys)
    else:
        algorithm, digest, encoding, length, stored = read_plain(name, data)
    content = zlib.decompress(stored, wbits=31) if encoding == "gzip" else stored
    require(length in (None, len(content)), "another length than the header says")
    require(hashlib.new(algorithm, content).digest() == digest, "another content than the digest says")
    return {"digest": f"{algorithm}-{base64.b64encode(digest).decode()}", "encoding": encoding, "content": content.hex()}


def main(arguments):
    keys = b""
    try:
        if arguments[:1] == ["--keys"]:
            keys, arguments = bytes.fromhex(arguments[1]), arguments[2:]
        require(arguments and len(keys) % 32 == 0, "")
    except (IndexError, ValueError, Damage):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    blobs = []
    for path in arguments:
        try:
            blobs.append(read(path, [keys[i:i + 32] for i in range(0, len(keys), 32)]))
        except (Damage, OSError, ValueError, zlib.error) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    json.dump(blobs, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
