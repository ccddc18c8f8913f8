/// A server of CouchDB's API, in the race.
protocol ServerContender: AnyObject, Sendable {
    /// Whether it answers everything with the same bytes, so that nothing can be stored in it.
    var isConstant: Bool { get }

    /// Asks from so many clients at once, each of which waits for its answer before it asks again.
    ///
    /// - Parameter next: A client's request of a number; `nil` ends the client. Called by all clients at once.
    /// - Returns: How many requests were answered.
    /// - Throws: When an answer has another status than is wanted.
    func perform(
        clients: Int, _ next: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest?
    ) throws -> Int

    /// Ends the server.
    func close() throws
}

/// A request with JSON.
struct ServerRequest: Sendable {
    var method = "GET"
    var target: String
    var body: [UInt8] = []
    /// What a good answer has.
    var status = 200
}

/// What the servers' documents are: 300 bytes of JSON, in the order of their IDs.
enum ServedDocument {
    /// The database that they are in.
    static let database = "/bench"
    static let groups = 100

    /// With ten digits, so that IDs ascend.
    static func id(_ index: Int) -> String {
        let digits = String(index)
        return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }

    /// What texts are pieces of.
    private static let letters: [UInt8] = (0..<8192).map { 97 + UInt8(SplitMix64.mix(UInt64($0)) % 26) }

    /// - Parameter id: What `_id` is; `nil` leaves it out.
    static func json(_ index: Int, id: String? = nil, size: Int = 300) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(size + 32)
        json += id.map { "{\"_id\":\"\($0)\"," }.map { Array($0.utf8) } ?? [UInt8(ascii: "{")]
        json += "\"group\":\"group \(index % groups)\",\"n\":\(index),\"text\":\"".utf8
        var missing = max(0, size - 2 - json.count)
        // Copied, as what a client spends on it counts as the server's.
        var start = index &* 31 % (letters.count / 2)
        while missing > 0 {
            let piece = letters[start...].prefix(missing)
            json += piece
            missing -= piece.count
            start = 0
        }
        json += "\"}".utf8
        return json
    }

    /// The body of a `_bulk_docs`.
    static func batch(_ indexes: Range<Int>, size: Int) -> [UInt8] {
        var body = Array("{\"docs\":[".utf8)
        body.reserveCapacity(indexes.count * (size + 32))
        for index in indexes {
            if index > indexes.lowerBound { body.append(UInt8(ascii: ",")) }
            body += json(index, id: id(index), size: size)
        }
        body += "]}".utf8
        return body
    }
}

extension ServerContender {
    /// Makes the database, and puts so many documents into it, 1,000 at a time, unless nothing can be stored.
    func load(_ count: Int, size: Int) throws {
        guard !isConstant else { return }
        _ = try perform(clients: 1) { _, number in
            number == 0 ? ServerRequest(method: "PUT", target: ServedDocument.database, status: 201) : nil
        }
        try insert(count, size: size)
    }

    /// Puts so many documents into the database, 1,000 at a time.
    func insert(_ count: Int, size: Int) throws {
        _ = try perform(clients: 1) { _, number in
            let start = number * 1_000
            guard start < count else { return nil }
            return ServerRequest(
                method: "POST", target: ServedDocument.database + "/_bulk_docs",
                body: ServedDocument.batch(start..<min(start + 1_000, count), size: size), status: 201)
        }
    }
}
