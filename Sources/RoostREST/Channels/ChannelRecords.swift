import Roost
import RoostWire

/// What is kept of channels beside the documents: where each document stands, who has which channels, and the channels' documents in
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

    /// The time at a moment of the collection.
    static func time(_ snapshot: CollectionSnapshot) throws -> UInt64 {
        try AccessClock(record: snapshot.annotation(ChannelKey.clock))?.time ?? 0
    }
}

/// Where a document stands.
struct RoutedDocument: Sendable {
    /// Where it stands, or stood, in a channel.
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

        /// So many are remembered.
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
