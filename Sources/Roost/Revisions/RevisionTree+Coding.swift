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

// MARK: - StoredRevisionReader

/// Reads the entries of a stored revision tree one after the other, trusting none of the bytes.
///
/// The format is described at the top of `RevisionTree+Coding.swift`. Holds a position and not the bytes,
/// which are handed to every call and must be the same each time.
struct StoredRevisionReader {
    /// One stored revision.
    struct Entry {
        var id: RevisionID
        var flags: RevisionFlags
        /// How many entries further on the parent stands, 0 for a root.
        var parentDistance: UInt64
        /// How many entries further on each further parent stands.
        var furtherParentDistances: [UInt64]
        var sequence: UInt64
    }

    /// The fewest bytes of an entry: kind, a length, a one-byte digest, sequence.
    private static let smallestEntry = 4

    /// How many entries there are in all.
    let count: Int
    /// How many of them have been read.
    private(set) var position = 0
    /// Where the next entry begins.
    private(set) var offset: Int
    private var previous: Entry?

    /// Reads version and count.
    init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        guard bytes.count > 0, bytes[0] == RevisionTree.storedVersion else {
            throw Self.damaged(at: 0, "it does not begin with version \(RevisionTree.storedVersion)")
        }
        offset = 1
        guard let count = bytes.varint(at: &offset), count <= UInt64(RevisionTree.maximumCount),
            Int(count) * Self.smallestEntry <= bytes.count - offset
        else {
            throw Self.damaged(at: 1, "the number of revisions is not one that fits \(bytes.count) bytes")
        }
        self.count = Int(count)
    }

    /// Reads the next entry, or answers `nil` after the last, which must be where the bytes end.
    mutating func next(_ bytes: Span<UInt8>) throws(DatabaseError) -> Entry? {
        guard position < count else {
            guard offset == bytes.count else {
                throw Self.damaged(at: offset, "bytes follow its last revision")
            }
            return nil
        }
        let start = offset
        guard offset < bytes.count else { throw Self.damaged(at: start, "a revision is missing") }
        let kind = StoredRevisionKind(rawValue: bytes[offset])
        offset += 1
        guard kind.isDisjoint(with: .reserved), !kind.isSuperset(of: [.parentIsNext, .isRoot]),
            !kind.isSuperset(of: [.hasFurtherParents, .isRoot])
        else {
            throw Self.damaged(at: start, "it has a revision of an unknown kind")
        }
        let generation = try readGeneration(bytes)
        let id = RevisionID(generation: generation, digest: try readDigest(bytes, kind))
        if let previous, previous.id <= id { throw Self.damaged(at: start, "its revisions are out of order") }
        let distance = try readParentDistance(bytes, kind, generation)
        let entry = Entry(
            id: id, flags: RevisionFlags(rawValue: kind.rawValue), parentDistance: distance,
            furtherParentDistances: try readFurtherParents(bytes, kind, beyond: distance),
            sequence: try readInteger(bytes, "a sequence"))
        previous = entry
        position += 1
        return entry
    }

    private mutating func readGeneration(_ bytes: Span<UInt8>) throws(DatabaseError) -> UInt64 {
        let start = offset
        guard let previous else {
            let generation = try readInteger(bytes, "a generation")
            if generation >= 1 && generation <= RevisionID.maximumGeneration { return generation }
            throw Self.damaged(at: start, "a generation is not within 1 to 2^63 - 1")
        }
        let drop = previous.parentDistance == 1 ? 1 : try readInteger(bytes, "a generation")
        guard drop < previous.id.generation else {
            throw Self.damaged(at: start, "a generation is less than 1")
        }
        return previous.id.generation - drop
    }

    private mutating func readDigest(
        _ bytes: Span<UInt8>, _ kind: StoredRevisionKind
    ) throws(DatabaseError) -> RevisionDigest {
        let start = offset
        let isText = kind.contains(.isText)
        let length =
            isText ? Int(clamping: try readInteger(bytes, "a digest's length")) : RevisionDigest.binaryLength
        guard length <= bytes.count - offset else {
            throw Self.damaged(at: start, "a digest runs past its end")
        }
        defer { offset += length }
        guard let digest = RevisionDigest(stored: bytes.extracting(offset..<offset + length), isText: isText)
        else { throw Self.damaged(at: start, "a digest is not one that a revision has") }
        return digest
    }

    private mutating func readParentDistance(
        _ bytes: Span<UInt8>, _ kind: StoredRevisionKind, _ generation: UInt64
    ) throws(DatabaseError) -> UInt64 {
        if kind.contains(.isRoot) { return 0 }
        let start = offset
        let isNext = kind.contains(.parentIsNext)
        let distance = isNext ? 1 : try readInteger(bytes, "the place of a parent")
        guard isNext || distance >= 2, distance < UInt64(count - position), generation > 1 else {
            throw Self.damaged(at: start, "a revision's parent is not where it can be")
        }
        return distance
    }

    private mutating func readFurtherParents(
        _ bytes: Span<UInt8>, _ kind: StoredRevisionKind, beyond first: UInt64
    ) throws(DatabaseError) -> [UInt64] {
        guard kind.contains(.hasFurtherParents) else { return [] }
        let start = offset
        let number = try readInteger(bytes, "the number of further parents")
        guard number >= 1, number < UInt64(count - position) else {
            throw Self.damaged(at: start, "a revision has \(number) further parents")
        }
        var distances: [UInt64] = []
        var last = first
        for _ in 0..<number {
            let distance = try readInteger(bytes, "the place of a parent")
            guard distance > last, distance < UInt64(count - position) else {
                throw Self.damaged(at: start, "a revision's parent is not where it can be")
            }
            distances.append(distance)
            last = distance
        }
        return distances
    }

    private mutating func readInteger(_ bytes: Span<UInt8>, _ what: String) throws(DatabaseError) -> UInt64 {
        let start = offset
        guard let value = bytes.varint(at: &offset) else {
            throw Self.damaged(at: start, "\(what) is not readable")
        }
        return value
    }

    static func damaged(at offset: Int, _ reason: String) -> DatabaseError {
        DatabaseError(
            .damaged,
            "The stored revisions of a document are damaged at byte \(offset): \(reason). Check the "
                + "database's integrity, and restore the document from a backup or another device.")
    }
}
