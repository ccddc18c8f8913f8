import Testing

@testable import RoostBLIP

/// Two connections that talk to each other through lists of frames.
@Suite struct ConnectionTests {
    /// A pair of connections, and what each has received.
    private struct Pair {
        var client = BLIPConnection()
        var server = BLIPConnection()
        var atServer: [BLIPConnection.Event] = []
        var atClient: [BLIPConnection.Event] = []
        /// Whether receivers report what they get as consumed at once.
        var consumes = true

        /// Carries frames until neither side has any. Returns the number of frames.
        @discardableResult mutating func exchange() throws -> Int {
            var count = 0
            while true {
                if let frame = client.nextFrame() {
                    let events = try server.receive(frame)
                    atServer += events
                    if consumes {
                        for case .body(let id, let bytes) in events { server.consumed(bytes.count, of: id) }
                    }
                } else if let frame = server.nextFrame() {
                    let events = try client.receive(frame)
                    atClient += events
                    if consumes {
                        for case .body(let id, let bytes) in events { client.consumed(bytes.count, of: id) }
                    }
                } else {
                    return count
                }
                count += 1
            }
        }
    }

    private func bodies(_ events: [BLIPConnection.Event]) -> [BLIPConnection.MessageID: [UInt8]] {
        var bodies: [BLIPConnection.MessageID: [UInt8]] = [:]
        for case .body(let id, let bytes) in events { bodies[id, default: []] += bytes }
        return bodies
    }

    private func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    /// While nothing is sent, the compressor's memory is released; a new one goes on.
    @Test func compressionGoesOnAfterARest() throws {
        var pair = Pair()
        let body = noise(40_000) + noise(40_000)
        for round in 1...3 {
            let id = pair.client.send(BLIPMessage(body: body), options: [.compressed, .noReply])
            #expect(try pair.exchange() > 1)
            #expect(bodies(pair.atServer)[id] == body, "round \(round)")
        }
    }

    @Test(arguments: [[], .compressed, .urgent, [.compressed, .urgent]] as [BLIPConnection.Options])
    func aRequestIsAnswered(options: BLIPConnection.Options) throws {
        var pair = Pair()
        let id = pair.client.send(
            BLIPMessage(["Profile": "getCheckpoint", "client": "cp"], body: Array("body".utf8)),
            options: options)
        try pair.exchange()
        #expect(
            pair.atServer == [
                .began(id, ["Profile": "getCheckpoint", "client": "cp"], isError: false, wantsReply: true),
                .body(id, Array("body".utf8)), .ended(id),
            ])
        #expect(pair.server.isBusy && pair.client.unansweredCount == 1)
        pair.server.reply(to: id, BLIPMessage(errorIn: "HTTP", code: 404, "missing"), isError: true)
        try pair.exchange()
        let reply = BLIPConnection.MessageID(id.number, isReply: true)
        #expect(
            pair.atClient == [
                .began(
                    reply, ["Error-Domain": "HTTP", "Error-Code": "404"], isError: true, wantsReply: false),
                .body(reply, Array("missing".utf8)), .ended(reply),
            ])
        #expect(!pair.client.isBusy && !pair.server.isBusy)
    }

    @Test func aRequestWithoutReplyGetsNone() throws {
        var pair = Pair()
        let id = pair.client.send(BLIPMessage(["Profile": "norev"]), options: .noReply)
        try pair.exchange()
        pair.server.reply(to: id, BLIPMessage())
        #expect(try pair.exchange() == 0)
        #expect(!pair.client.isBusy && !pair.server.isBusy)
    }

    /// A body of megabytes goes through with acknowledgements; without them it stops at 128,000 bytes.
    @Test(arguments: [[], .compressed] as [BLIPConnection.Options])
    func aLargeBodyWaitsForAcknowledgements(options: BLIPConnection.Options) throws {
        let body = noise(1_000_000)
        var pair = Pair()
        let id = pair.client.send(BLIPMessage(["Profile": "rev"], body: body), options: options)
        try pair.exchange()
        #expect(bodies(pair.atServer)[id] == body)
        #expect(pair.atServer.last == .ended(id))

        var slow = Pair()
        slow.consumes = false
        let held = slow.client.send(BLIPMessage(["Profile": "rev"], body: body), options: options)
        try slow.exchange()
        let arrived = bodies(slow.atServer)[held]?.count ?? 0
        #expect((128_000 - 1000...128_000 + (64 << 10) + (16 << 10)).contains(arrived), "\(arrived)")
        #expect(slow.client.nextFrame() == nil)
        // It goes on when the receiver has consumed what has arrived.
        slow.server.consumed(arrived, of: held)
        slow.consumes = true
        try slow.exchange()
        #expect(bodies(slow.atServer)[held] == body)
    }

    @Test func aBodyIsSentAsItIsMade() throws {
        var pair = Pair()
        let id = pair.client.send(BLIPMessage(["Profile": "rev"]), isComplete: false)
        try pair.exchange()
        #expect(pair.atServer.count == 1 && pair.client.backlog(of: id) == 0)
        for index in 0..<10 {
            pair.client.append(noise(20_000, seed: UInt64(index)), to: id, isLast: index == 9)
            try pair.exchange()
        }
        #expect(bodies(pair.atServer)[id] == (0..<10).flatMap { noise(20_000, seed: UInt64($0)) })
        #expect(pair.atServer.last == .ended(id))
    }

    /// Small messages are complete before a large one that was begun earlier, and requests begin in the order of their numbers.
    @Test func messagesAreInterleaved() throws {
        var pair = Pair()
        let large = pair.client.send(BLIPMessage(["n": "1"], body: noise(120_000)))
        let small = pair.client.send(BLIPMessage(["n": "2"], body: noise(100)))
        let urgent = pair.client.send(BLIPMessage(["n": "3"], body: noise(100)), options: .urgent)
        try pair.exchange()
        let began = pair.atServer.compactMap { event -> UInt64? in
            if case .began(let id, _, _, _) = event { id.number } else { nil }
        }
        #expect(began == [1, 2, 3])
        let ended = pair.atServer.compactMap { event -> BLIPConnection.MessageID? in
            if case .ended(let id) = event { id } else { nil }
        }
        #expect(ended == [small, urgent, large])
    }

    /// An urgent reply does not wait for the rest of a large one.
    @Test func urgentRepliesGoFirst() throws {
        var pair = Pair()
        let slow = pair.client.send(BLIPMessage(["Profile": "getAttachment"]))
        let quick = pair.client.send(BLIPMessage(["Profile": "proposeChanges"]), options: .urgent)
        try pair.exchange()
        pair.server.reply(to: slow, BLIPMessage(body: noise(60_000)))
        pair.server.reply(to: quick, BLIPMessage(body: noise(6_000)))
        try pair.exchange()
        let ended = pair.atClient.compactMap { event -> UInt64? in
            if case .ended(let id) = event { id.number } else { nil }
        }
        #expect(ended == [quick.number, slow.number])
    }

    // MARK: Peers that break the rules

    private func frames(_ frames: [BLIPFrame]) -> [[UInt8]] {
        var writer = BLIPFrameWriter()
        return frames.map { frame in
            var frame = frame
            return writer.write(&frame)
        }
    }

    private let message = BLIPMessage(["Profile": "rev"]).encoded

    @Test func numbersOutOfOrderAreRefused() throws {
        for number in [0, 2, 9] as [UInt64] {
            var connection = BLIPConnection()
            #expect(throws: BLIPError.self) {
                try connection.receive(frames([BLIPFrame(number: number, kind: .request, piece: message)])[0])
            }
        }
        var connection = BLIPConnection()
        let twice = frames([1, 1].map { BLIPFrame(number: $0, kind: .request, piece: message) })
        #expect(try connection.receive(twice[0]).count == 2)
        #expect(throws: BLIPError("A request has the wrong number.")) { try connection.receive(twice[1]) }
    }

    @Test func repliesToNoRequestAreRefused() {
        var connection = BLIPConnection()
        #expect(throws: BLIPError("A reply to no request has arrived.")) {
            try connection.receive(frames([BLIPFrame(number: 1, kind: .reply, piece: message)])[0])
        }
    }

    @Test func framesOfOneMessageAreOfOneKind() throws {
        var connection = BLIPConnection()
        _ = connection.send(BLIPMessage())
        let mixed = frames([
            BLIPFrame(number: 1, kind: .reply, flags: .moreComing, piece: message),
            BLIPFrame(number: 1, kind: .errorReply, piece: []),
        ])
        _ = try connection.receive(mixed[0])
        #expect(throws: BLIPError("The frames of a message differ in kind.")) {
            try connection.receive(mixed[1])
        }
    }

    @Test func aSenderThatDoesNotWaitIsRefused() throws {
        var connection = BLIPConnection()
        let piece = noise(16_000)
        let flood = frames(
            [BLIPFrame(number: 1, kind: .request, flags: .moreComing, piece: message)]
                + (0..<20).map { _ in BLIPFrame(number: 1, kind: .request, flags: .moreComing, piece: piece) }
        )
        var arrived = 0
        #expect(throws: BLIPError("The sender does not wait for acknowledgements.")) {
            for frame in flood {
                _ = try connection.receive(frame)
                arrived += 1
            }
        }
        #expect(arrived < 18)
    }

    @Test func incompleteRequestsAreLimited() throws {
        var connection = BLIPConnection()
        let many = frames(
            (1...65).map { BLIPFrame(number: $0, kind: .request, flags: .moreComing, piece: message) })
        for frame in many.prefix(64) { _ = try connection.receive(frame) }
        #expect(throws: BLIPError("Too many requests are incomplete.")) { try connection.receive(many[64]) }
    }

    @Test func moreAcknowledgedThanSentIsRefused() throws {
        var connection = BLIPConnection()
        let id = connection.send(BLIPMessage(["Profile": "rev"]), isComplete: false)
        let frame = connection.nextFrame()
        let sent = try #require(frame).count
        _ = try connection.receive(
            frames([BLIPFrame(acknowledging: id.number, isReply: false, bytes: UInt64(sent - 2))])[0])
        #expect(throws: BLIPError("More was acknowledged than was sent.")) {
            try connection.receive(
                frames([BLIPFrame(acknowledging: id.number, isReply: false, bytes: 1_000_000)])[0])
        }
    }

    @Test func aMessageThatEndsWithinItsPropertiesIsRefused() {
        var connection = BLIPConnection()
        #expect(throws: BLIPError("The message ends within its properties.")) {
            try connection.receive(frames([BLIPFrame(number: 1, kind: .request, piece: [20, 0x61])])[0])
        }
    }
}
