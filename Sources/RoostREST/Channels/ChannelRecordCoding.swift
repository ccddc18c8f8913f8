import Fleece
import Roost

/// What is kept of channels, as a dictionary in Fleece. Members that are empty are left out.
///
/// Written by hand, since every document that comes or is told of has its record read.
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
