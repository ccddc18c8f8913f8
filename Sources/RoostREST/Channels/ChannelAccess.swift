import Roost
import RoostWire

/// The channels that a user who is no administrator has access to, and had.
struct ChannelAccess: Sendable {
    private let user: Principal
    /// The roles' own records.
    private let roles: [String: Principal]
    /// The roles of a user without a name, of whom nothing is remembered.
    private let namelessRoles: Set<String>
    /// The channels that are neither granted nor withdrawn.
    private let own: Set<String>
    /// When the access was changed last, on the ``AccessClock``.
    let time: UInt64
    /// The channels now.
    let channels: Set<String>

    /// - Parameter read: Reads an entry of the collection.
    init(_ context: UserContext, _ read: ([UInt8]) throws -> [UInt8]?) throws {
        let user =
            try context.name.flatMap { try Principal(record: read(ChannelKey.user($0))) } ?? Principal()
        let nameless = context.name == nil ? Self.accountRoles(context) : []
        var roles: [String: Principal] = [:]
        for role in Set(user.roles.keys).union(nameless) {
            roles[role] = try Principal(record: read(ChannelKey.role(role)))
        }
        let lists = [user.channels, user.roles] + roles.values.map(\.channels)
        self.user = user
        self.roles = roles
        namelessRoles = nameless
        own = Self.own(context)
        time = lists.flatMap(\.values).compactMap(\.moments.last?.time).max() ?? 0
        channels = Self.channels(own, user, roles, nameless) { $0.isHeld }
    }

    /// The public channel, and the user's.
    private static func own(_ context: UserContext) -> Set<String> {
        let name = context.name.map { SyncDecision.userPrefix + $0 }
        // A name that can be no channel's may look like one that can.
        guard let name, SyncDecision.problem(ofName: name) == nil else { return [SyncDecision.publicChannel] }
        return [SyncDecision.publicChannel, name]
    }

    /// The roles of an account that count here: those that can have channels.
    static func accountRoles(_ context: UserContext) -> Set<String> {
        Set(context.roles.filter { !$0.begins(with: "_") && SyncDecision.problem(ofName: $0) == nil })
    }

    /// The roles now.
    var roleNames: Set<String> { namelessRoles.union(user.roles.filter(\.value.isHeld).keys) }

    /// The channels that were held at a sequence of the documents.
    func channels(atSequence sequence: UInt64) -> Set<String> {
        Self.channels(own, user, roles, namelessRoles) { $0.isHeld(atSequence: sequence) }
    }

    /// The channels that were gained or lost after a time, by whatever way.
    func channels(changedSince time: UInt64) -> Set<String> {
        func isLater(_ holding: Principal.Holding?) -> Bool {
            holding?.moments.last.map { $0.time > time } == true
        }
        var channels = Set(user.channels.filter { isLater($0.value) }.keys)
        for (role, principal) in roles {
            let isAllNew = isLater(user.roles[role])
            channels.formUnion(principal.channels.filter { isAllNew || isLater($0.value) }.keys)
        }
        return channels
    }

    /// Whether a channel was held from a time on, without a break.
    func isHeld(_ channel: String, since time: UInt64) -> Bool {
        let times = [time] + moments(of: channel).map(\.time).filter { $0 > time }
        return times.allSatisfy { time in isHeld(channel) { $0.isHeld(at: time) } }
    }

    /// Whether a channel was held at one of some sequences of the documents.
    func held(_ channel: String, within period: Range<UInt64>) -> Bool {
        let sequences = [period.lowerBound] + moments(of: channel).map(\.sequence).filter(period.contains)
        return sequences.contains { sequence in isHeld(channel) { $0.isHeld(atSequence: sequence) } }
    }

    /// When a channel, or a role that may bring it, was gained or lost.
    private func moments(of channel: String) -> [Principal.Moment] {
        let holdings = [user.channels[channel]] + roles.flatMap { [user.roles[$0], $1.channels[channel]] }
        return holdings.flatMap { $0?.moments ?? [] }
    }

    private func isHeld(_ channel: String, _ isHeld: (Principal.Holding) -> Bool) -> Bool {
        own.contains(channel)
            || Self.holdings(user, roles, namelessRoles, isHeld).contains {
                $0[channel].map(isHeld) == true
            }
    }

    /// The channels, held or not, of the user and of the roles that are held.
    private static func holdings(
        _ user: Principal, _ roles: [String: Principal], _ nameless: Set<String>,
        _ isHeld: (Principal.Holding) -> Bool
    ) -> [[String: Principal.Holding]] {
        let held = roles.filter { nameless.contains($0.key) || user.roles[$0.key].map(isHeld) == true }
        return [user.channels] + held.values.map(\.channels)
    }

    private static func channels(
        _ own: Set<String>, _ user: Principal, _ roles: [String: Principal], _ nameless: Set<String>,
        _ isHeld: (Principal.Holding) -> Bool
    ) -> Set<String> {
        holdings(user, roles, nameless, isHeld).reduce(into: own) {
            channels, holdings in
            channels.formUnion(holdings.filter { isHeld($0.value) }.keys)
        }
    }

    /// Whether the user sees a document in these channels.
    func sees(_ routing: Routing?) -> Bool {
        guard let routing, routing.isRefused != true else { return false }
        return channels.contains(SyncDecision.allChannels)
            || routing.channels.contains(where: channels.contains)
    }
}
