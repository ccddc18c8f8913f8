#if !os(Linux) || ROOST_URLSESSION
    import Dispatch
    import Foundation

    /// Writes pieces into a stream as it has room for them, without waiting with a thread.
    ///
    /// Unchecked: all but the stream's address is used on one queue, to which the stream's events come too.
    final class UploadWriter: NSObject, StreamDelegate, @unchecked Sendable {
        /// How many bytes wait between the two ends of a pair.
        private static let capacity = 256 << 10

        private let output: OutputStream
        private let queue: DispatchQueue
        private var rest: ArraySlice<UInt8> = []
        private var writing: CheckedContinuation<Bool, Never>?
        private var hasEnded = false

        /// - Parameters:
        ///   - output: A stream that is open, or is about to be.
        ///   - queue: Where its events come.
        init(into output: OutputStream, on queue: DispatchQueue) {
            self.output = output
            self.queue = queue
            super.init()
            output.delegate = self
        }

        #if canImport(Darwin)
            /// Two streams, one of which has what is written into the other.
            static func pair() -> (InputStream, UploadWriter) {
                var ends: (input: InputStream?, output: OutputStream?)
                unsafe Stream.getBoundStreams(
                    withBufferSize: capacity, inputStream: &ends.input, outputStream: &ends.output)
                guard let input = ends.input, let output = ends.output else {
                    preconditionFailure("a pair of streams takes memory only")
                }
                let queue = DispatchQueue(label: "roost.http.upload")
                let writer = UploadWriter(into: output, on: queue)
                CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
                output.open()
                return (input, writer)
            }
        #endif

        /// Waits until all of a piece is in the stream; answers whether more is wanted. One task writes at a time.
        func write(_ piece: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                queue.async {
                    guard !self.hasEnded else { return continuation.resume(returning: false) }
                    self.rest = piece[...]
                    self.writing = continuation
                    self.goOn()
                }
            }
        }

        /// All is written: ends the stream.
        func close() {
            queue.async {
                self.end()
                self.output.close()
            }
        }

        /// Writes nothing more. The stream stays open, because its end would say that all of it is there.
        func stop() { queue.async { self.end() } }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            if event == .hasSpaceAvailable { goOn() }
            if event == .errorOccurred || event == .endEncountered { end() }
        }

        private func goOn() {
            while !rest.isEmpty, output.streamStatus == .open, output.hasSpaceAvailable {
                let count = unsafe rest.withUnsafeBufferPointer { bytes in
                    guard let start = bytes.baseAddress else { return 0 }
                    return unsafe output.write(start, maxLength: bytes.count)
                }
                guard count > 0 else { return end() }
                rest = rest.dropFirst(count)
            }
            if rest.isEmpty { writing.take()?.resume(returning: true) }
        }

        private func end() {
            hasEnded = true
            output.delegate = nil
            rest = []
            writing.take()?.resume(returning: false)
        }
    }
#endif
