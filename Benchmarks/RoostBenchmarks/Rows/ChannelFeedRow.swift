import RoostWire
import Synchronization

/// G2: 1,000 users with 20 of 1,000 channels each, who all wait for what they see, while 1,000 documents a second come, each in one
/// channel, and so for 20 of them.
enum ChannelFeedRow {
    private static let users = 1_000
    private static let channels = 1_000
    private static let channelsOfUser = 20
    /// Documents of a request, and requests in a second.
    private static let batch = 10
    private static let requests = 100

    static func run(on stage: Stage) throws {
        let (directory, seconds) = (stage.directory, max(stage.seconds, 1))
        let delays = Delays()
        let (rate, processor) = try Blocking.wait {
            let channels = try await RoostChannels(directory, sync: RoostChannels.swift)
            try await channels.save((0..<users).map(grant))
            let feeds = try await listen(to: channels, delays)
            defer { for feed in feeds { feed.cancel() } }
            let start = (Clock.now(), Clock.processorSeconds())
            let count = try await save(for: seconds, into: channels)
            let rate = Double(count) / Clock.seconds(since: start.0)
            try await delays.wait(for: count * channelsOfUser)
            return (rate, (Clock.processorSeconds() - start.1) / Clock.seconds(since: start.0))
        }
        stage.record(.routedWrites, rate)
        stage.record(.routedDelay, delays.milliseconds(at: 0.5))
        stage.record(.routedDelayP99, delays.milliseconds(at: 0.99))
        stage.record(.routedProcessor, processor * 1e3)
    }

    /// What arrived, and how long it took.
    private final class Delays: Sendable {
        private let all = Mutex<[UInt64]>([])

        func add(_ nanoseconds: UInt64) { all.withLock { $0.append(nanoseconds) } }

        func wait(for count: Int) async throws {
            let start = Clock.now()
            while all.withLock({ $0.count }) < count {
                guard Clock.seconds(since: start) < 60 else {
                    throw BenchmarkError("only \(all.withLock { $0.count }) of \(count) changes arrived")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        func milliseconds(at share: Double) -> Double {
            let sorted = all.withLock { $0.sorted() }
            return sorted.isEmpty ? 0 : Double(sorted[Int(share * Double(sorted.count - 1))]) / 1e6
        }
    }

    /// Gives a user channels, so that each channel has 20 users.
    private static func grant(_ user: Int) -> String {
        let names = (0..<channelsOfUser).map {
            "\"c\((user + $0 * channels / channelsOfUser) % channels)\""
        }
        return
            #"{"_id":"grant \#(user)","channels":[],"access":{"u\#(user)":[\#(names.joined(separator: ","))]}}"#
    }

    /// Every user's feed, begun.
    private static func listen(to channels: RoostChannels, _ delays: Delays) async throws -> [Task<
        Void, any Error
    >] {
        var tasks: [Task<Void, any Error>] = []
        for user in 0..<users {
            let feed = try await channels.changes(
                of: "u\(user)", "feed=continuous&since=now&heartbeat=600000")
            _ = try await feed.next()
            tasks.append(
                Task {
                    while let piece = try await feed.next() { note(piece, delays) }
                })
        }
        return tasks
    }

    /// Notes the delays of rows, whose documents' IDs say when they were sent.
    private static func note(_ piece: [UInt8], _ delays: Delays) {
        let now = Clock.now()
        for row in piece.split(separator: UInt8(ascii: "\n")) {
            guard let place = row.indices.first(where: { row[$0...].starts(with: idMember) }) else {
                continue
            }
            let digits = row[(place + idMember.count)...].prefix { $0 != UInt8(ascii: "-") }
            guard let sent = UInt64(String(decoding: digits, as: UTF8.self)) else { continue }
            delays.add(now - sent)
        }
    }

    private static let idMember = Array("\"id\":\"".utf8)

    /// Saves documents at the wanted rate, or as fast as it goes.
    private static func save(for seconds: Double, into channels: RoostChannels) async throws -> Int {
        let clock = ContinuousClock()
        let start = clock.now
        let rounds = Int(seconds * Double(requests))
        for round in 0..<rounds {
            try await clock.sleep(until: start + .seconds(1) * round / requests)
            let sent = Clock.now()
            try await channels.save(
                (0..<batch).map { number in
                    let channel = (round * batch + number) * 7 % Self.channels
                    return #"{"_id":"\#(sent)-\#(number)","channels":["c\#(channel)"],"text":"hello"}"#
                })
        }
        return rounds * batch
    }
}
