import Roost
import RoostREST
import RoostWire
import Testing

@testable import RoostSync

/// Answers in which bytes were changed, removed or repeated at random: a replication ends, with or without an error, and what was
/// here before is here afterwards.
@Suite struct MutatedAnswersTests {
    private struct Mutation: Transport {
        let router: Router
        let random: SharedRandom

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            var response = await router.respond(to: request, as: .admin)
            guard random.happens(onceIn: 3) else { return response }
            var bytes = try await response.bytes()
            for _ in 0...random.next(below: 4) where !bytes.isEmpty {
                let place = random.next(below: bytes.count)
                switch random.next(below: 4) {
                case 0: bytes[place] = UInt8(random.next(below: 256))
                case 1: bytes.removeSubrange(place...)
                case 2: bytes.insert(contentsOf: bytes[..<place], at: place)
                default: bytes[place] = Array("[]{}\"\\0-9,:".utf8)[random.next(below: 11)]
                }
            }
            response.body = .bytes(bytes)
            if random.happens(onceIn: 10) {
                response.status = [200, 201, 302, 404, 409, 412, 500][random.next(below: 7)]
            }
            return response
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func nothingThatIsHereIsHarmed(seed: UInt64) async throws {
        let peers = try Peers()
        let router = Router(try DatabaseDirectory(peers.directory + "/served"))
        let theirs = try router.databases.create("db").defaultCollection
        for number in 0..<6 {
            try theirs.put("n\(number)", #"{"n":[\#(number),{"a":"b"}]}"#)
            try theirs.insert("n\(number)", ["2-aa", "1-bb"])
        }
        var draft = MutableDocument(id: "attached")
        draft.attachments["x"] = Attachment(try theirs.database.blob([UInt8](repeating: 65, count: 3000)))
        try theirs.put(draft)
        let notes = try peers.open("here").defaultCollection
        try notes.put("kept", #"{"n":1}"#)
        let kept = try #require(try notes.find("kept")).revision
        let random = SharedRandom(seed)
        let remote = RemoteDatabase("db", over: Mutation(router: router, random: random))
        for direction in [ReplicationOptions.Direction.pull, .push] {
            _ = try? await notes.replicate(
                with: remote,
                ReplicationOptions(direction) { options in
                    options.batchSize = 3
                    options.retry.attempts = 4
                }
            ).finished
        }
        #expect(try notes.snapshot().leaves(of: "kept").map(\.id).contains(kept))
        #expect(try notes.database.isClean())
        #expect(try theirs.database.isClean())
    }
}
