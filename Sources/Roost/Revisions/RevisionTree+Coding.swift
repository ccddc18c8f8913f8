import RoostBytes

// MARK: - The stored form, version 1
//
// A tree is stored as part of its document's entry, which knows the length. Varints are LEB128 in their shortest form. Bytes are given in hexadecimal.
//
//     tree   = version  count  entry × count
//     version  1 byte    01
//     count    varint    the number of entries, 0 to 2^24
//
// Entries stand in strictly descending order of revision IDs (generation, then digest bytes), so that the
// first one is the winner whenever it is live, and children come before their parents.
//
//     entry  = kind  [generation]  [length]  digest  [parent]  [further]  sequence
//     kind         1 byte    bits, see below
//     generation   varint    first entry: the generation, 1 to 2^63 - 1
//                            after an entry without CHAIN: the previous entry's generation minus this one's
//                            after an entry with CHAIN: absent; one less than the previous entry's
//     length       varint    only with TEXT: the length of the digest in bytes, 0 to 64
//     digest       bytes     with TEXT the digest's UTF-8, else its 16 bytes
//     parent       varint    only with neither CHAIN nor ROOT: how many entries further on the parent stands,
//                            2 or more
//     further      varints   only with FURTHER: the number of further parents, 1 or more; then how many entries further
//                            on each of them stands, in ascending order, all beyond the first parent
//     sequence     varint    0 when the revision is known only as an ancestor
//
//     bit of kind
//     0  01  DELETED      the revision is a tombstone
//     1  02  ATTACHMENTS  its body refers to blobs
//     2  04  FURTHER      histories gave it more than one parent
//     3  08               always 0
//     4  10  CHAIN        its parent is the next entry
//     5  20  ROOT         its parent is not known
//     6  40  TEXT         its digest is text
//     7  80               always 0
//
// A parent is of the generation one below its child's. Every tree has exactly one encoding, and a reader
// refuses all other bytes. A document of one revision with a 16-byte digest takes 3 bytes more than the
// revision's compact form (17 bytes below generation 64) and the sequence.
//
// Worked example: 1-aa (sequence 1), its edits 2-bb (sequence 2) and 2-cc (a tombstone, sequence 3).
//
//     01                      version 1
//     03                      three entries
//     41 02 02 63 63 02 03    TEXT DELETED, generation 2, 2 bytes "cc", parent 2 further on, sequence 3
//     50 00 02 62 62 02       TEXT CHAIN, generation 0 less, 2 bytes "bb", sequence 2
//     60 02 61 61 01          TEXT ROOT, 2 bytes "aa", sequence 1

/// The `kind` byte of a stored revision, whose lowest two bits are its ``RevisionFlags``.
struct StoredRevisionKind: OptionSet {
    let rawValue: UInt8

    static let hasFurtherParents = Self(rawValue: 0x04)
    static let parentIsNext = Self(rawValue: 0x10)
    static let isRoot = Self(rawValue: 0x20)
    static let isText = Self(rawValue: 0x40)
    static let reserved = Self(rawValue: 0x88)
}

extension RevisionTree {
    /// The version of the stored form that is written, and the only one there is.
    static let storedVersion: UInt8 = 1

    /// Appends the stored form, described byte by byte at the top of `RevisionTree+Coding.swift`.
    ///
    /// Equal trees have equal encodings, and different ones different. O(n).
    package func encode(to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + 8 + count * 24)
        bytes.append(Self.storedVersion)
        bytes.append(varint: UInt64(count))
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
                bytes.append(varint: nodes[previous].id.generation - node.id.generation)
            }
        } else {
            bytes.append(varint: node.id.generation)
        }
        if node.id.digest.isText {
            bytes.append(varint: UInt64(node.id.digest.count))
        }
        node.id.digest.append(to: &bytes)
        if let parent, parent != index - 1 { bytes.append(varint: UInt64(index - parent)) }
        let further = furtherParents.isEmpty ? [] : furtherParents(of: index)
        if !further.isEmpty {
            bytes.append(varint: UInt64(further.count))
            for link in further.reversed() { bytes.append(varint: UInt64(index - Int(link.parent))) }
        }
        bytes.append(varint: node.sequence)
    }

    private func kind(of node: Node, at index: Int) -> StoredRevisionKind {
        var kind = StoredRevisionKind(rawValue: node.flags.rawValue)
        if !furtherParents.isEmpty, !furtherParents(of: index).isEmpty { kind.insert(.hasFurtherParents) }
        if node.parent == Node.none {
            kind.insert(.isRoot)
        } else if Int(node.parent) == index - 1 {
            kind.insert(.parentIsNext)
        }
        if node.id.digest.isText { kind.insert(.isText) }
        return kind
    }
}

// MARK: Decoding

extension RevisionTree {
    /// Reads a tree from its stored form, which must be all of `bytes`.
    ///
    /// Bytes that are not exactly what ``encode(to:)`` writes for some tree are refused, whoever made them.
    /// Memory is bounded by 30 times the length of `bytes`. O(n).
    /// - Throws: `damaged`, whose message says what is wrong at which byte.
    package init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        var reader = try StoredRevisionReader(bytes)
        ReadCounts.note(.revisions, reader.count)
        let last = reader.count - 1
        nodes = []
        nodes.reserveCapacity(reader.count)
        // The entries stand in descending order: entry i becomes node `last` − i once the nodes are reversed.
        while let entry = try reader.next(bytes) {
            let parent = entry.parentDistance == 0 ? -1 : last - nodes.count - Int(entry.parentDistance)
            nodes.append(
                Node(
                    id: entry.id, flags: entry.flags, isLeaf: true, parent: Int32(parent),
                    sequence: entry.sequence))
            let index = reader.count - nodes.count
            furtherParents += entry.furtherParentDistances.map {
                Link(child: Int32(index), parent: Int32(index - Int($0)))
            }
        }
        nodes.reverse()
        furtherParents.reverse()
        for index in nodes.indices {
            if let parent = parentIndex(of: index) { try noteEdit(index, of: parent, bytes.count) }
        }
        for link in furtherParents { try noteEdit(Int(link.child), of: Int(link.parent), bytes.count) }
    }

    /// Marks `parent` as edited, if it can be the parent of `child`.
    private mutating func noteEdit(
        _ child: Int, of parent: Int, _ end: Int
    ) throws(DatabaseError) {
        guard nodes[parent].id.generation == nodes[child].id.generation - 1 else {
            throw StoredRevisionReader.damaged(
                at: end, "\(nodes[child].id) cannot be an edit of \(nodes[parent].id)")
        }
        nodes[parent].isLeaf = false
    }
}
