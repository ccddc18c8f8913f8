import Foundation
import Synchronization

/// A server over a socket that answers what a test tells it to, byte for byte, be it HTTP or not.
final class ScriptedServer: Sendable {
    /// A request that came: its method and target.
    struct Request: Sendable {
        let line: String
        let head: String

        /// The path without a query.
        var path: String { String((line.split(separator: " ").dropFirst().first ?? "").prefix { $0 != "?" }) }
        var method: String { String(line.prefix { $0 != " " }) }
    }

    /// What is sent back.
    enum Answer: Sendable {
        /// These bytes, then the connection is closed.
        case bytes([UInt8])
        /// A head and JSON.
        case json(Int, String)
        /// A head, then these bytes over and over, or nothing where there are none, until the client hangs up.
        case endless(head: String, piece: [UInt8])

        static func text(_ text: String) -> Answer { .bytes(Array(text.utf8)) }
    }

    let port: UInt16
    private let socket: Int32
    private let requests = Mutex<[Request]>([])
    private let sent = Mutex(0)
    private let answer: @Sendable (Request) -> Answer

    /// The requests that came, in their order.
    var seen: [Request] { requests.withLock { $0 } }
    /// How many bytes of endless answers went out.
    var endlessBytes: Int { sent.withLock { $0 } }

    init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        self.answer = answer
        #if canImport(Glibc)
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = socket
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                guard let self else { return _ = close(connection) }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    func url(_ path: String = "/db") -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { preconditionFailure("a path") }
        return url
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var received: [UInt8] = []
        while let end = Self.endOfHead(received) ?? more(connection, &received) {
            let head = String(decoding: received[..<end], as: UTF8.self)
            let length =
                head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            while received.count < end + length {
                guard more(connection, &received) != nil || received.count >= end + length else { return }
            }
            received.removeFirst(end + length)
            let request = Request(line: String(head.prefix { $0 != "\r\n" }), head: head)
            requests.withLock { $0.append(request) }
            switch answer(request) {
            case .bytes(let bytes):
                _ = send(bytes, connection)
                return
            case .json(let status, let text):
                let lines =
                    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                guard send(Array((lines + text).utf8), connection) else { return }
            case .endless(let head, let piece):
                guard send(Array(head.utf8), connection) else { return }
                guard !piece.isEmpty else {
                    while more(connection, &received) != nil {}
                    return
                }
                while send(piece, connection) { sent.withLock { $0 += piece.count } }
                return
            }
        }
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }

    /// Reads on; answers where the head ends, `nil` when the client has ended.
    private func more(_ connection: Int32, _ received: inout [UInt8]) -> Int? {
        while true {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(connection, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { return nil }
            received += buffer.prefix(count)
            if let end = Self.endOfHead(received) { return end }
        }
    }

    private func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Foundation.send(
                    connection, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
