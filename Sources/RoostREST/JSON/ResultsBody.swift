import RoostWire

/// The answers to several queries as `{"results":[…]}`: each is begun when the one before has been sent, so that none of them is held
/// in memory.
actor ResultsBody: BodyStream {
    private let count: Int
    private let answer: @Sendable (Int) throws -> any BodyStream
    private var place = 0
    private var current: (any BodyStream)?
    private var isBeginning = true

    /// - Parameters:
    ///   - count: The number of queries.
    ///   - answer: Begins the answer to the query of a number: a JSON text.
    init(count: Int, _ answer: @escaping @Sendable (Int) throws -> any BodyStream) {
        self.count = count
        self.answer = answer
    }

    func next() async throws -> [UInt8]? {
        guard place <= count else { return nil }
        var bytes: [UInt8] = []
        if isBeginning { bytes += "{\"results\":[".utf8 }
        isBeginning = false
        while place < count {
            let body = try current ?? answer(place)
            current = body
            if let piece = try await body.next() { return bytes + piece }
            current = nil
            place += 1
            if place < count { bytes.append(UInt8(ascii: ",")) }
        }
        place += 1
        return bytes + Array("]}\n".utf8)
    }
}
