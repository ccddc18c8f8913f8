import RoostBytes

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
