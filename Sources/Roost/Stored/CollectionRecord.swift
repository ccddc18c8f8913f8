import RoostBytes
import RoostFile

/// What is true of a collection as a whole; written with every commit that changes documents.
///
///     version    1 byte    01
///     number     varint    names the collection's trees
///     sequence   varint    the last one given; 0 in the beginning
///     live       varint    how many documents are not deleted
///     limit      varint    the revision limit
///     created    varint    when the collection was made, in microseconds since 1970
///     epoch      8 bytes   random; names the history that the sequences belong to
///     purges     varint    the last purge sequence given; 0 in the beginning
struct CollectionRecord: Equatable {
    static let version: UInt8 = 1
    /// A larger sequence can't have been given out.
    static let largestSequence = UInt64(Int64.max)

    let number: UInt64
    var lastSequence: UInt64 = 0
    var liveCount: UInt64 = 0
    var revisionLimit = RevisionTree.defaultRevisionLimit
    let created: UInt64
    private(set) var epoch: UInt64
    var lastPurge: UInt64 = 0

    /// The record of a new collection.
    init(number: UInt64, _ environment: Environment) {
        self.number = number
        created = environment.clock.now()
        epoch = 0
        renewEpoch(environment)
    }

    /// Begins another history: sequences that were told before mean nothing from now on.
    mutating func renewEpoch(_ environment: Environment) {
        unsafe withUnsafeMutableBytes(of: &epoch) { unsafe environment.randomness.fill($0) }
    }

    var encoded: [UInt8] {
        var bytes = [Self.version]
        for number in [number, lastSequence, liveCount, UInt64(revisionLimit), created] {
            bytes.append(varint: number)
        }
        bytes += Sequences.key(epoch)
        bytes.append(varint: lastPurge)
        return bytes
    }

    init(_ bytes: [UInt8]) throws(DatabaseError) {
        self = try bytes.withView { (view) throws(DatabaseError) in try Self(view) }
    }

    private init(_ bytes: ByteView) throws(DatabaseError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == Self.version else { throw MalformedBytes(at: 0) }
            number = try reader.varint()
            lastSequence = try reader.varint()
            liveCount = try reader.varint()
            let limit = try reader.varint()
            created = try reader.varint()
            epoch = Sequences.number(try reader.view(8))
            lastPurge = try reader.varint()
            guard lastSequence <= Self.largestSequence, lastPurge <= Self.largestSequence, limit >= 1,
                limit <= UInt64(RevisionTree.maximumCount)
            else { throw MalformedBytes(at: 0) }
            revisionLimit = Int(limit)
        } catch {
            throw DatabaseError.damaged("The record of a collection")
        }
    }
}
