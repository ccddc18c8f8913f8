// MARK: - The stored form, version 1
//
// A tree is stored as part of its document's entry, which knows the length. Varints are LEB128 (see
// ``Varint``) in their shortest form. Bytes are given in hexadecimal.
//
//     tree   = version  count  entry × count
//     version  1 byte    01
//     count    varint    the number of entries, 0 to 2^24
//
// Entries stand in strictly descending order of revision IDs (generation, then digest bytes), so that the
// first one is the winner whenever it is live, and children come before their parents.
//
//     entry  = kind  [generation]  [length]  digest  [parent]  sequence  [offset  size]
//     kind         1 byte    bits, see below
//     generation   varint    first entry: the generation, 1 to 2^63 - 1
//                            after an entry without CHAIN: the previous entry's generation minus this one's
//                            after an entry with CHAIN: absent; one less than the previous entry's
//     length       varint    only with LENGTH: the number of digest bytes, 1 to 32 but not 16
//     digest       bytes     as many as `length` says, 16 without it
//     parent       varint    only with neither CHAIN nor ROOT: how many entries further on the parent stands,
//                            2 or more
//     sequence     varint    0 when the revision is known only as an ancestor
//     offset       varint    only with BODY: where the body's chunk begins in the database file
//     size         varint    only with BODY: the length of the body in bytes
//
//     bit of kind
//     0  01  DELETED      the revision is a tombstone
//     1  02  ATTACHMENTS  its body refers to blobs
//     2  04  KEEP         its body is kept when it ceases to be a leaf
//     3  08  BODY         its body is stored
//     4  10  CHAIN        its parent is the next entry
//     5  20  ROOT         its parent is not known
//     6  40  LENGTH       its digest is not of 16 bytes
//     7  80               always 0
//
// A parent is of the generation one below its child's. Every tree has exactly one encoding, and a reader
// refuses all other bytes. A document of one revision with a 16-byte digest takes 3 bytes more than the
// revision's compact form (17 bytes below generation 128), the sequence and the body's place.
//
// Worked example: 1-aa (sequence 1, body not stored), its edits 2-bb (sequence 2, 80 bytes stored at 4096)
// and 2-cc (a tombstone, sequence 3).
//
//     01                      version 1
//     03                      three entries
//     41 02 01 cc 02 03       LENGTH DELETED, generation 2, 1 byte cc, parent 2 further on, sequence 3
//     58 00 01 bb 02 80 20 50 LENGTH CHAIN BODY, generation 0 less, 1 byte bb, sequence 2, at 4096, 80 bytes
//     60 01 aa 01             LENGTH ROOT, 1 byte aa, sequence 1

/// The `kind` byte of a stored revision, whose lowest three bits are its ``RevisionFlags``.
struct StoredRevisionKind: OptionSet {
    let rawValue: UInt8

    static let hasBody = Self(rawValue: 0x08)
    static let parentIsNext = Self(rawValue: 0x10)
    static let isRoot = Self(rawValue: 0x20)
    static let hasDigestLength = Self(rawValue: 0x40)
    static let reserved = Self(rawValue: 0x80)
}

extension RevisionTree {
    /// The version of the stored form that is written, and the only one there is.
    static let storedVersion: UInt8 = 1

    /// Appends the stored form, described byte by byte at the top of `RevisionTree+Encoding.swift`.
    ///
    /// Equal trees have equal encodings, and different ones different. O(n).
    package func encode(to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + 8 + count * 24)
        bytes.append(Self.storedVersion)
        Varint.append(UInt64(count), to: &bytes)
        var previous: Int?
        for index in nodes.indices.reversed() {
            encodeEntry(index, after: previous, to: &bytes)
            previous = index
        }
    }

    private func encodeEntry(_ index: Int, after previous: Int?, to bytes: inout [UInt8]) {
        let node = nodes[index]
        let parent = parentIndex(of: index)
        bytes.append(kind(of: node, at: index).rawValue)
        if let previous {
            if parentIndex(of: previous) != index {
                Varint.append(nodes[previous].id.generation - node.id.generation, to: &bytes)
            }
        } else {
            Varint.append(node.id.generation, to: &bytes)
        }
        if node.id.digest.count != RevisionDigest.ownLength {
            Varint.append(UInt64(node.id.digest.count), to: &bytes)
        }
        node.id.digest.append(to: &bytes)
        if let parent, parent != index - 1 { Varint.append(UInt64(index - parent), to: &bytes) }
        Varint.append(node.sequence, to: &bytes)
        if let body = node.body {
            Varint.append(body.offset, to: &bytes)
            Varint.append(body.length, to: &bytes)
        }
    }

    private func kind(of node: Node, at index: Int) -> StoredRevisionKind {
        var kind = StoredRevisionKind(rawValue: node.flags.rawValue)
        if node.body != nil { kind.insert(.hasBody) }
        if node.parent == Node.none {
            kind.insert(.isRoot)
        } else if Int(node.parent) == index - 1 {
            kind.insert(.parentIsNext)
        }
        if node.id.digest.count != RevisionDigest.ownLength { kind.insert(.hasDigestLength) }
        return kind
    }
}
