import Roost

/// Keeps the channels' records in the write that changes a document, so that they are what the documents are after a crash, too.
struct ChannelLedger {
    let batch: WriteTransaction
    let collection: DocumentCollection
    /// Where records wait until they are written, if they are to.
    var held: HeldRecords?

    /// The most channels that are remembered of a document which has left them.
    private static let mostLeft = 100

    // MARK: Documents

    func document(_ id: String) throws -> RoutedDocument {
        if let record = held?.record(of: id) { return record }
        return try RoutedDocument(record: batch.annotation(ChannelKey.document(id), in: collection))
            ?? RoutedDocument()
    }

    /// Takes over what was decided on a revision that has just been stored, and brings channels and grants in line with the revision
    /// that wins now.
    ///
    /// - Parameter history: Of what was made elsewhere, the revision and its ancestors.
    func settle(
        _ id: String, _ revision: RevisionID, _ routing: Routing, history: [RevisionID]? = nil
    ) throws {
        var record = try document(id)
        let old = record.routing
        let present = record.winner.flatMap { record.leaves[$0] }
        record.leaves[revision] = try isNarrow(routing) ? routing.narrowed(to: present) : routing
        // Of a document that the write has changed before, only the ancestors are leaves no longer.
        let isKnown = held?.record(of: id) != nil
        try settle(id, &record, old, replacing: isKnown ? history?.dropFirst() : nil)
    }

    /// Whether there may be something left of what another version of the function decided.
    private func isNarrow(_ routing: Routing) throws -> Bool {
        guard let version = routing.version else { return false }
        if let position = try RoutingPosition(record: batch.annotation(ChannelKey.position, in: collection)) {
            return position.version != version || !position.isNarrowed
        }
        // The first decision in the collection.
        try begin(RoutingPosition(version: version, isNarrowed: true))
        return false
    }

    /// Keeps the first position in the collection.
    func begin(_ position: RoutingPosition) throws {
        try batch.annotate(ChannelKey.position, with: position.record, in: collection)
        try batch.annotate(ChannelKey.hasLists, with: [], in: collection)
    }

    /// Takes over what was decided on revisions that are there already. Where that is something else than before, the document gets a
    /// new place among the changes, so that all learn of it.
    func settle(_ id: String, anew decided: [RevisionID: Routing]) throws {
        var record = try document(id)
        let old = record.routing
        var isNew = try batch.standing(of: id, in: collection)?.winner != record.winner
        for (revision, routing) in decided {
            if record.leaves[revision]?.isSame(as: routing) != true { isNew = true }
            record.leaves[revision] = routing
        }
        if isNew { try batch.resequence(id, in: collection) }
        try settle(id, &record, old)
    }

    /// Brings channels and grants in line with what is left of a document after a purge.
    func settlePurge(_ id: String) throws {
        guard try batch.annotation(ChannelKey.document(id), in: collection) != nil else { return }
        var record = try document(id)
        let old = record.routing
        try settle(id, &record, old)
    }

    /// - Parameter replaced: Those of the record's leaves that may be leaves no longer; `nil` where that is to be looked up.
    private func settle(
        _ id: String, _ record: inout RoutedDocument, _ old: Routing,
        replacing replaced: ArraySlice<RevisionID>? = nil
    ) throws {
        guard let winner = try batch.standing(of: id, in: collection) else {
            try grant(id, old, Routing(), at: try collection.snapshot().lastSequence)
            for (channel, place) in record.places {
                try batch.annotate(ChannelKey.entry(channel, place.sequence), with: nil, in: collection)
            }
            try list(id, in: [], insteadOf: record.listingChannels)
            return try batch.annotate(ChannelKey.document(id), with: nil, in: collection)
        }
        if let replaced {
            for revision in replaced { record.leaves[revision] = nil }
        } else {
            let leaves = Set(winner.leaves.map(\.id))
            record.leaves = record.leaves.filter { leaves.contains($0.key) }
        }
        record.winner = winner.winner
        try grant(id, old, record.routing, at: winner.sequence)
        let listing = record.listingChannels
        try place(id, winner, &record)
        try list(id, in: record.listingChannels, insteadOf: listing)
        guard let held else {
            return try batch.annotate(ChannelKey.document(id), with: record.record, in: collection)
        }
        try held.hold(record, of: id)
    }

    /// Moves the document's entries in the channels to its sequence.
    private func place(_ id: String, _ winner: DocumentStanding, _ record: inout RoutedDocument) throws {
        var channels = Set(record.routing.channels)
        if !winner.isDeleted, let routing = record.leaves[winner.winner],
            routing.isRefused != true
        {
            channels.insert(SyncDecision.allChannels)
        }
        for (channel, place) in record.places where place.left == nil || channels.contains(channel) {
            try batch.annotate(ChannelKey.entry(channel, place.sequence), with: nil, in: collection)
        }
        for channel in channels {
            var place = record.places[channel] ?? .init(sequence: 0, stays: [], left: nil)
            place.move(to: winner.sequence, leavingBy: nil)
            record.places[channel] = place
            try write(id, channel, record)
        }
        for (channel, place) in record.places where place.left == nil && !channels.contains(channel) {
            var place = place
            place.move(to: winner.sequence, leavingBy: winner.winner)
            record.places[channel] = place
            try write(id, channel, record)
        }
        let left = record.places.filter { $0.value.left != nil }.sorted {
            $0.value.sequence < $1.value.sequence
        }
        for (channel, place) in left.dropLast(Self.mostLeft) {
            record.places[channel] = nil
            try batch.annotate(ChannelKey.entry(channel, place.sequence), with: nil, in: collection)
        }
    }

    private func write(_ id: String, _ channel: String, _ record: RoutedDocument) throws {
        guard let place = record.places[channel] else { return }
        let entry = ChannelEntry(id: id, place: place)
        try batch.annotate(
            ChannelKey.entry(channel, place.sequence), with: entry.record, in: collection)
    }

    // MARK: Lists

    /// Lists a document in channels, and in no others of those that list it.
    private func list(_ id: String, in channels: Set<String>, insteadOf others: Set<String> = []) throws {
        for channel in others.subtracting(channels) {
            try batch.annotate(ChannelKey.list(channel) + id.utf8, with: nil, in: collection)
        }
        for channel in channels.subtracting(others) {
            try batch.annotate(ChannelKey.list(channel) + id.utf8, with: [], in: collection)
        }
    }

    /// Lists documents that an earlier build has routed.
    ///
    /// - Parameter areLast: Whether there are no others.
    func list(_ ids: [String], areLast: Bool) throws {
        for id in ids { try list(id, in: document(id).listingChannels) }
        if areLast { try batch.annotate(ChannelKey.hasLists, with: [], in: collection) }
    }

    // MARK: Grants

    /// Changes the record of a user or a role.
    ///
    /// - Parameter change: Returns whether something was taken from them.
    private func change(_ key: [UInt8], _ change: (inout Principal) -> Bool) throws {
        if let held { return try held.change(key, change) }
        var principal = try Principal(record: batch.annotation(key, in: collection)) ?? Principal()
        _ = change(&principal)
        try batch.annotate(key, with: principal.record, in: collection)
    }

    /// Replaces what a document grants.
    private func grant(
        _ source: String, _ old: Routing, _ new: Routing, at sequence: UInt64
    ) throws {
        guard old.access != new.access || old.roles != new.roles else { return }
        let moment = try nextMoment(sequence)
        let names = Set(old.access.keys).union(new.access.keys).union(old.roles.keys).union(new.roles.keys)
        for name in names {
            try change(ChannelKey.principal(name)) { principal in
                let channels = Self.replace(
                    &principal.channels, source, old.access[name], new.access[name], moment)
                let roles = Self.replace(&principal.roles, source, old.roles[name], new.roles[name], moment)
                return channels || roles
            }
        }
    }

    /// Takes over the roles of a user's account.
    func noteAccount(_ name: String, roles: Set<String>) throws {
        // No other write runs meanwhile.
        let moment = try nextMoment(try collection.snapshot().lastSequence)
        try change(ChannelKey.user(name)) { principal in
            Self.replace(&principal.roles, "", Array(principal.accountRoles), Array(roles), moment)
        }
    }

    /// Takes over what an administrator gives a user or a role; `nil` leaves it as it is.
    ///
    /// - Parameter key: That of the ``Principal``.
    func give(_ key: [UInt8], channels: Set<String>?, roles: Set<String>?) throws {
        let moment = try nextMoment(try collection.snapshot().lastSequence)
        let source = Principal.administrator
        try change(key) { principal in
            var isLess = false
            if let channels {
                let given = Array(principal.given(\.channels))
                isLess = Self.replace(&principal.channels, source, given, Array(channels), moment)
            }
            if let roles {
                let given = Array(principal.given(\.roles))
                isLess = Self.replace(&principal.roles, source, given, Array(roles), moment) || isLess
            }
            return isLess
        }
    }

    /// - Returns: Whether something that was held is not held any more.
    private static func replace(
        _ holdings: inout [String: Principal.Holding], _ source: String, _ old: [String]?, _ new: [String]?,
        _ moment: Principal.Moment
    ) -> Bool {
        let (old, new) = (Set(old ?? []), Set(new ?? []))
        var isLess = false
        for name in old.symmetricDifference(new) {
            holdings[name, default: .init()].set(source, new.contains(name), at: moment)
            if !new.contains(name), holdings[name]?.isHeld == false { isLess = true }
        }
        return isLess
    }

    private func nextMoment(_ sequence: UInt64) throws -> Principal.Moment {
        var clock =
            try AccessClock(record: batch.annotation(ChannelKey.clock, in: collection)) ?? AccessClock()
        clock.time += 1
        try batch.annotate(ChannelKey.clock, with: clock.record, in: collection)
        return Principal.Moment(time: clock.time, sequence: sequence)
    }
}

extension Principal {
    /// The roles that the user's account had when it was looked at last.
    var accountRoles: Set<String> { Set(roles.filter { $0.value.grants.contains("") }.keys) }

    /// What an administrator gives.
    func given(_ holdings: KeyPath<Principal, [String: Holding]>) -> Set<String> {
        Set(self[keyPath: holdings].filter { $0.value.grants.contains(Self.administrator) }.keys)
    }
}

/// The channels' records that a write has changed and not written yet: that of the document that it changed last, until another
/// document's turn comes, and those of users and roles, until the write ends. A write of thousands of conflicts of one document, or of
/// thousands of documents that let one user in, would take quadratic time if it wrote the whole record for each.
final class HeldRecords {
    private let batch: WriteTransaction
    private let collection: DocumentCollection
    private var document: (id: ByteKey, record: RoutedDocument)?
    /// Those of users and roles, by their keys.
    private var principals: [[UInt8]: Principal] = [:]
    private var changed: Set<[UInt8]> = []
    /// The number of changes that took something from a user.
    private(set) var withdrawals = 0

    init(_ batch: WriteTransaction, _ collection: DocumentCollection) {
        self.batch = batch
        self.collection = collection
    }

    // MARK: Documents

    /// The record of a document, if that is the one.
    func record(of id: String) -> RoutedDocument? {
        document.flatMap { $0.id == ByteKey(id) ? $0.record : nil }
    }

    func hold(_ record: RoutedDocument, of id: String) throws {
        if let document, document.id != ByteKey(id) { try writeDocument() }
        document = (ByteKey(id), record)
    }

    private func writeDocument() throws {
        guard let (id, record) = document.take() else { return }
        try batch.annotate(ChannelKey.document(id.text), with: record.record, in: collection)
    }

    // MARK: Users and roles

    /// The record of a user or a role.
    func principal(_ key: [UInt8]) throws -> Principal {
        if let known = principals[key] { return known }
        let principal = try Principal(record: batch.annotation(key, in: collection)) ?? Principal()
        principals[key] = principal
        return principal
    }

    /// Changes the record of a user or a role.
    ///
    /// - Parameter change: Returns whether something was taken from them.
    func change(_ key: [UInt8], _ change: (inout Principal) -> Bool) throws {
        // Taken out while it is changed, so that it is not copied.
        _ = try principal(key)
        var principal = principals.removeValue(forKey: key) ?? Principal()
        if change(&principal) { withdrawals += 1 }
        principals[key] = principal
        changed.insert(key)
    }

    /// Writes what was changed of users and roles.
    func writePrincipals() throws {
        for key in changed {
            if let principal = principals[key] {
                try batch.annotate(key, with: principal.record, in: collection)
            }
        }
        changed = []
    }

    /// Writes what is held.
    func write() throws {
        try writeDocument()
        try writePrincipals()
    }
}
