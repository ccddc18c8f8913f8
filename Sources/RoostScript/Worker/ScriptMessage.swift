#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What goes between a process that runs scripts and the one that asks it: four bytes of length, least first, one byte that
/// says what it is, and so many bytes.
struct ScriptMessage {
    enum Kind: UInt8 {
        // Requests.
        /// A function, by its key: the key, a zero byte, and a request for the prelude.
        case request
        /// All functions are to be forgotten.
        case forget
        // Answers.
        case answer
        case tooLong, tooMuchMemory, tooLargeAnswer, noLibrary, thrown
    }

    let kind: Kind
    let bytes: [UInt8]

    /// What a message answers.
    ///
    /// - Throws: What it says was wrong.
    func answer(_ limits: ScriptLimits) throws(ScriptError) -> [UInt8] {
        switch kind {
        case .answer: return bytes
        case .tooLong: throw .tooLong(seconds: limits.seconds)
        case .tooMuchMemory: throw .tooMuchMemory(bytes: limits.memory)
        case .tooLargeAnswer: throw .tooLargeAnswer(bytes: limits.answer)
        case .noLibrary: throw .noLibrary
        case .thrown: throw .thrown(String(decoding: bytes, as: UTF8.self))
        case .request, .forget: throw .broken("answered with a request")
        }
    }

    /// The longest that is taken, in bytes.
    static let longest = 256 << 20

    var encoded: [UInt8] {
        let count = UInt32(bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + [kind.rawValue] + bytes
    }

    /// Length and kind of a message that begins with these five bytes; `nil` for what can't be.
    static func head(_ bytes: [UInt8]) -> (count: Int, kind: Kind)? {
        let count = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
        guard count <= longest, let kind = Kind(rawValue: bytes[4]) else { return nil }
        return (count, kind)
    }

    /// Reads the next message, waiting for it; `nil` at the end, or for what is none.
    static func read(_ descriptor: Int32) -> ScriptMessage? {
        guard let start = bytes(5, from: descriptor), let head = head(start),
            let content = bytes(head.count, from: descriptor)
        else { return nil }
        return ScriptMessage(kind: head.kind, bytes: content)
    }

    private static func bytes(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let received = unsafe bytes.withUnsafeMutableBytes {
                unsafe systemRead(descriptor, $0.baseAddress! + done, count - done)
            }
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { return nil }
            done += received
        }
        return bytes
    }

    /// Writes it, waiting until all is written; answers whether it could be.
    func write(_ descriptor: Int32) -> Bool {
        let bytes = encoded
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe systemWrite(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }
}

// Within the type above, the names of its own methods would hide these.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
