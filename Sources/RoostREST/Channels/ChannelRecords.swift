import Fleece
import Roost
import RoostWire

/// The records of channels, besides the documents: which channels each document is in, who has which channels, and the channels' documents in
/// the order of their sequences.
///
///     d id                          a ``RoutedDocument``
///     u name                        a ``Principal``: a user
///     r name                        a ``Principal``: a role
///     i length channel sequence     a ``ChannelEntry``: the length is one byte, the sequence eight, big-endian
///     j length channel id           nothing: the document is in the channel, and no tombstone; all but `*` have such lists
///     l                             nothing: all documents stand in these lists, which earlier builds did not keep
///     n                             an ``AccessClock``
///     v                             a ``RoutingPosition``
enum ChannelKey {
    static func document(_ id: String) -> [UInt8] { [UInt8(ascii: "d")] + id.utf8 }

    static func user(_ name: String) -> [UInt8] { [UInt8(ascii: "u")] + name.utf8 }

    static func role(_ name: String) -> [UInt8] { [UInt8(ascii: "r")] + name.utf8 }

    /// Of whom a sync function names: a user, or `role:NAME`.
    static func principal(_ name: String) -> [UInt8] {
        name.removing(prefix: SyncDecision.rolePrefix).map { role($0) } ?? user(name)
    }

    static func channel(_ name: String) -> [UInt8] {
        [UInt8(ascii: "i"), UInt8(truncatingIfNeeded: name.utf8.count)] + name.utf8
    }

    static func sequence(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    }

    static func entry(_ channel: String, _ number: UInt64) -> [UInt8] {
        Self.channel(channel) + sequence(number)
    }

    /// What the list of a channel's documents begins with.
    static func list(_ channel: String) -> [UInt8] {
        [UInt8(ascii: "j"), UInt8(truncatingIfNeeded: channel.utf8.count)] + channel.utf8
    }

    static let hasLists = [UInt8(ascii: "l")]

    static let clock = [UInt8(ascii: "n")]

    static let position = [UInt8(ascii: "v")]
}

/// How far the documents that were written without asking the sync function have been routed.
struct RoutingPosition: Equatable, Sendable {
    /// That of the function.
    var version: String
    /// The sequence up to which all documents are routed.
    var sequence: UInt64 = 0
    /// The purge sequence up to which nothing is left of what was purged.
    var purges: UInt64 = 0
    /// How many documents the function refused.
    var refused = 0
    /// Whether nothing is left of what a function before decided: until then, what is decided holds only as far as that does, so that no
    /// channel of the one is seen by a grant of the other.
    var isNarrowed = false
}

/// How often access was changed: what grants are dated by.
struct AccessClock {
    var time: UInt64 = 0

    /// The time at a snapshot of the collection.
    static func time(_ snapshot: CollectionSnapshot) throws -> UInt64 {
        try AccessClock(record: snapshot.annotation(ChannelKey.clock))?.time ?? 0
    }
}

/// The channels of a document.
struct RoutedDocument: Sendable {
    /// Its place in a channel, present or past.
    struct Place: Sendable {
        /// The sequence of its entry in the channel.
        var sequence: UInt64
        /// The sequences at which it came and left, in turns.
        var stays: [UInt64]
        /// The revision by which it left; `nil` while it is there.
        var left: RevisionID?

        /// The most stays that are kept; beyond that, the earliest two are merged.
        private static let mostStays = 32

        /// It comes or leaves, or does not move.
        mutating func move(to sequence: UInt64, leavingBy revision: RevisionID?) {
            self.sequence = sequence
            if (left == nil) != (revision == nil) || stays.isEmpty { stays.append(sequence) }
            if stays.count > Self.mostStays { stays.removeSubrange(1...2) }
            left = revision
        }
    }

    /// What the sync function decided on its leaves, by revision. One that was not asked about is none.
    var leaves: [RevisionID: Routing] = [:]
    /// The revision whose routing holds; `nil` for none.
    var winner: RevisionID?
    var places: [String: Place] = [:]

    /// The routing that holds.
    var routing: Routing { winner.flatMap { leaves[$0] } ?? Routing() }

    /// The channels that list the document by its ID: those that it is in, unless it is deleted or was refused.
    var listingChannels: Set<String> {
        func holds(_ channel: String) -> Bool { places[channel].map { $0.left == nil } ?? false }
        guard holds(SyncDecision.allChannels) else { return [] }
        return Set(places.keys.filter { $0 != SyncDecision.allChannels && holds($0) })
    }
}

/// A document in a channel, or one that left it.
struct ChannelEntry: Sendable {
    let id: String
    let place: RoutedDocument.Place

    var sequence: UInt64 { place.sequence }
}

/// What a user, or a role, has, and had.
struct Principal: Equatable, Sendable {
    /// When something is gained or lost.
    struct Moment: Equatable, Sendable {
        /// On the ``AccessClock``.
        let time: UInt64
        /// The documents' sequence from which on it counts.
        let sequence: UInt64
    }

    /// From when to when something was held, and by whose grant.
    struct Holding: Equatable, Sendable {
        /// The documents that give it; the empty name is the account, ``Principal/administrator`` an administrator.
        var grants: [String] = []
        /// When it was gained and lost, in turns.
        var moments: [Moment] = []

        /// The number that is remembered.
        private static let mostMoments = 32

        var isHeld: Bool { moments.count % 2 == 1 }

        func isHeld(at time: UInt64) -> Bool { moments.count(where: { $0.time <= time }) % 2 == 1 }

        func isHeld(atSequence sequence: UInt64) -> Bool {
            moments.count(where: { $0.sequence <= sequence }) % 2 == 1
        }

        /// It is granted, or not any more, by `source`.
        mutating func set(_ source: String, _ isGranted: Bool, at moment: Moment) {
            grants.removeAll { $0.utf8.elementsEqual(source.utf8) }
            if isGranted { grants.append(source) }
            if isHeld == grants.isEmpty {
                // What no document takes away was held at the sequence before; and sequences don't fall.
                let isOfDocument = !source.isEmpty && source != Principal.administrator
                let sequence = isHeld && !isOfDocument ? moment.sequence + 1 : moment.sequence
                moments.append(
                    Moment(time: moment.time, sequence: max(sequence, moments.last?.sequence ?? 0)))
            }
            if moments.count > Self.mostMoments { moments.removeFirst(2) }
        }
    }

    /// Stands for an administrator among those who give something; no document has such a name.
    static let administrator = "_admin"

    var channels: [String: Holding] = [:]
    /// Of users.
    var roles: [String: Holding] = [:]
}

extension [UInt64] {
    /// Of sequences at which something came and left, in turns: from which to before which it was there.
    var periods: [Range<UInt64>] {
        stride(from: 0, to: count, by: 2).map {
            self[$0]..<Swift.max(self[$0], $0 + 1 < count ? self[$0 + 1] : .max)
        }
    }
}

/// What is kept of channels, as a dictionary in Fleece. Members that are empty are left out.
///
/// Written by hand, since the record of every document that is written or listed is read.
protocol ChannelRecord {
    /// - Throws: ``MalformedChannelRecord``.
    init(_ value: FleeceValue) throws
    func write(to writer: inout FleeceWriter)
}

/// A record that is there and says nothing that could be meant.
struct MalformedChannelRecord: Error, CustomStringConvertible {
    let description = "What is kept of channels can't be read. Check the database; a restored backup has it."
}

extension ChannelRecord {
    /// Reads a record; `nil` where there is none.
    init?(record bytes: [UInt8]?) throws {
        guard let bytes else { return nil }
        try self.init(try FleeceDocument(validating: bytes).root)
    }

    /// The stored form.
    var record: [UInt8] {
        get throws {
            var writer = FleeceWriter(capacity: 512)
            write(to: &writer)
            return try writer.finish()
        }
    }
}

extension RoutingPosition: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(
            version: try require(value["version"].string), sequence: value["sequence"].uint64 ?? 0,
            purges: value["purges"].uint64 ?? 0, refused: value["refused"].int ?? 0,
            isNarrowed: value["isNarrowed"].bool ?? false)
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("version", version)
        writer.member("sequence", sequence)
        writer.member("purges", purges)
        writer.member("refused", UInt64(refused))
        writer.member("isNarrowed", isNarrowed)
        writer.endDictionary()
    }
}

extension AccessClock: ChannelRecord {
    init(_ value: FleeceValue) throws { self.init(time: try require(value["time"].uint64)) }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("time", time)
        writer.endDictionary()
    }
}

extension RoutedDocument: ChannelRecord {
    init(_ value: FleeceValue) throws {
        var leaves: [RevisionID: Routing] = [:]
        ReadCounts.note(.revisions, value["leaves"].dictionary?.count ?? 0)
        for (revision, routing) in value["leaves"].dictionary ?? .empty {
            leaves[try require(RevisionID(revision))] = try Routing(routing)
        }
        self.init(
            leaves: leaves, winner: try Self.revision(value["winner"]),
            places: try map(value["places"], Place.init))
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        if !leaves.isEmpty {
            writer.key("leaves")
            writer.beginDictionary()
            for (revision, routing) in leaves {
                writer.key(revision.description)
                routing.write(to: &writer)
            }
            writer.endDictionary()
        }
        if let winner { writer.member("winner", winner.description) }
        writer.member("places", places)
        writer.endDictionary()
    }

    fileprivate static func revision(_ value: FleeceValue) throws -> RevisionID? {
        try value.string.map { try require(RevisionID($0)) }
    }
}

extension RoutedDocument {
    /// A record as most documents have it, which says nothing.
    static let usualRecord: [UInt8] = {
        guard let revision = RevisionID("1-0123456789abcdef0123456789abcdef01234567") else { return [] }
        let usual = RoutedDocument(
            leaves: [revision: Routing(channels: ["usual-channel"], version: "0123456789abcdef")],
            winner: revision,
            places: ["usual-channel": Place(sequence: 1 << 16, stays: [1 << 16], left: nil)])
        // What holds so little can be written.
        return (try? usual.record) ?? []
    }()
}

extension RoutedDocument.Place: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(
            sequence: try require(value["sequence"].uint64), stays: try numbers(value["stays"]),
            left: try RoutedDocument.revision(value["left"]))
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writeMembers(to: &writer)
        writer.endDictionary()
    }

    fileprivate func writeMembers(to writer: inout FleeceWriter) {
        writer.member("sequence", sequence)
        writer.member("stays", stays)
        if let left { writer.member("left", left.description) }
    }
}

extension Routing: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(
            channels: try texts(value["channels"]), access: try map(value["access"], texts),
            roles: try map(value["roles"], texts), version: value["version"].string,
            isRefused: value["isRefused"].bool, isNarrowed: value["isNarrowed"].bool)
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("channels", channels)
        for (name, grants) in [("access", access), ("roles", roles)] where !grants.isEmpty {
            writer.key(name)
            writer.beginDictionary()
            for (receiver, names) in grants { writer.member(receiver, names) }
            writer.endDictionary()
        }
        if let version { writer.member("version", version) }
        if let isRefused { writer.member("isRefused", isRefused) }
        if let isNarrowed { writer.member("isNarrowed", isNarrowed) }
        writer.endDictionary()
    }
}

extension ChannelEntry: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(id: try require(value["id"].string), place: try RoutedDocument.Place(value))
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("id", id)
        place.writeMembers(to: &writer)
        writer.endDictionary()
    }
}

extension Principal: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(
            channels: try map(value["channels"], Holding.init), roles: try map(value["roles"], Holding.init))
        ReadCounts.note(.grants, channels.count + roles.count)
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("channels", channels)
        writer.member("roles", roles)
        writer.endDictionary()
    }
}

extension Principal.Holding: ChannelRecord {
    init(_ value: FleeceValue) throws {
        self.init(grants: try texts(value["grants"]), moments: [])
        for moment in value["moments"].array ?? .empty {
            moments.append(
                Principal.Moment(
                    time: try require(moment["time"].uint64), sequence: try require(moment["sequence"].uint64)
                ))
        }
    }

    func write(to writer: inout FleeceWriter) {
        writer.beginDictionary()
        writer.member("grants", grants)
        writer.key("moments")
        writer.beginArray()
        for moment in moments {
            writer.beginDictionary()
            writer.member("time", moment.time)
            writer.member("sequence", moment.sequence)
            writer.endDictionary()
        }
        writer.endArray()
        writer.endDictionary()
    }
}

private func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw MalformedChannelRecord() }
    return value
}

private func texts(_ value: FleeceValue) throws -> [String] {
    try (value.array ?? .empty).map { try require($0.string) }
}

private func numbers(_ value: FleeceValue) throws -> [UInt64] {
    try (value.array ?? .empty).map { try require($0.uint64) }
}

private func map<Value>(
    _ value: FleeceValue, _ read: (FleeceValue) throws -> Value
) throws -> [String: Value] {
    var result: [String: Value] = [:]
    for (name, value) in value.dictionary ?? .empty { result[name] = try read(value) }
    return result
}

extension FleeceWriter {
    fileprivate mutating func member(_ name: String, _ value: String) {
        key(name)
        write(value)
    }

    fileprivate mutating func member(_ name: String, _ value: UInt64) {
        key(name)
        write(value)
    }

    fileprivate mutating func member(_ name: String, _ value: Bool) {
        key(name)
        write(value)
    }

    fileprivate mutating func member(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        key(name)
        beginArray()
        for value in values { write(value) }
        endArray()
    }

    fileprivate mutating func member(_ name: String, _ values: [UInt64]) {
        guard !values.isEmpty else { return }
        key(name)
        beginArray()
        for value in values { write(value) }
        endArray()
    }

    fileprivate mutating func member(_ name: String, _ records: [String: some ChannelRecord]) {
        guard !records.isEmpty else { return }
        key(name)
        beginDictionary()
        for (name, record) in records {
            key(name)
            record.write(to: &self)
        }
        endDictionary()
    }
}
