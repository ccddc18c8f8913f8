import RoostWire
import Synchronization

/// How many of something there are now.
final class Gauge: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }
}

/// The body of a feed, which counts as open until it is released.
final class FeedBody: BodyStream {
    let body: any BodyStream
    private let gauge: Gauge

    init(_ body: any BodyStream, _ gauge: Gauge) {
        self.body = body
        self.gauge = gauge
        gauge.add(1)
    }

    deinit { gauge.add(-1) }

    func next() async throws -> [UInt8]? { try await body.next() }
}
