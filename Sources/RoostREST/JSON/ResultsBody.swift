import RoostWire

/// The answers to several queries as `{"results":[…]}`: each is made when the one before has been sent, so that none of them is held in
/// memory.
actor ResultsBody: BodyStream {
    private let answers: [any BodyStream]
    private var place = 0
    private var isBeginning = true

    /// - Parameter answers: A JSON text each.
    init(_ answers: [any BodyStream]) { self.answers = answers }

    func next() async throws -> [UInt8]? {
        guard place <= answers.count else { return nil }
        var bytes: [UInt8] = []
        if isBeginning { bytes += "{\"results\":[".utf8 }
        isBeginning = false
        while place < answers.count {
            if let piece = try await answers[place].next() { return bytes + piece }
            place += 1
            if place < answers.count { bytes.append(UInt8(ascii: ",")) }
        }
        place += 1
        return bytes + Array("]}\n".utf8)
    }
}
