import RoostWire

/// Sends a body that is made while it is sent, by a task that is cancelled when the client hangs up.
struct StreamJob: Sendable {
    /// How long a piece may be that is copied behind what goes before it.
    private static let longestCopied = 64 << 10

    let channel: SocketChannel
    let stream: any BodyStream
    let framing: BodyFraming
    let pace: Connection

    /// - Parameter head: What goes before the body.
    /// - Returns: How many bytes of the body went out, and whether it is whole.
    func run(after head: [UInt8], isEndless: Bool, _ activity: ConnectionActivity) async -> (Int, Bool) {
        let task = Task(executorPreference: SocketExecutor.shared) { await send(after: head) }
        if isEndless { activity.setEndless { task.cancel() } }
        channel.watch { task.cancel() }
        let result = await task.value
        channel.stopWatching()
        if isEndless { activity.setEndless(nil) }
        return result
    }

    private func send(after head: [UInt8]) async -> (Int, Bool) {
        var pending = head
        var count = 0
        do {
            while let piece = try await stream.next() {
                count += piece.count
                if framing == .chunked { pending += MessageEncoder.chunkStart(piece.count) }
                if piece.count > Self.longestCopied {
                    guard await pace.send(pending), await pace.send(piece) else { return (count, false) }
                    pending = []
                } else {
                    pending += piece
                }
                if framing == .chunked { pending += MessageEncoder.chunkEnd }
                guard pending.isEmpty ? true : await pace.send(pending) else { return (count, false) }
                pending = []
            }
        } catch {
            return (count, false)
        }
        if case .length(let length) = framing, UInt64(count) != length { return (count, false) }
        if framing == .chunked { pending += MessageEncoder.lastChunk }
        return (count, pending.isEmpty ? true : await pace.send(pending))
    }
}
