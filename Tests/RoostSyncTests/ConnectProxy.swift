import Foundation
import Synchronization

/// A proxy that opens tunnels (RFC 9110, section 9.3.6).
final class ConnectProxy: Sendable {
    let port: UInt16
    private let socket: Int32
    private let seen = Mutex<[String]>([])

    /// The heads of the requests that came.
    var heads: [String] { seen.withLock { $0 } }

    init() throws {
        socket = Foundation.socket(AF_INET, Self.stream, 0)
        var address = Self.address(0)
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

    private static var stream: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func serve(_ client: Int32) {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            guard unsafe recv(client, &byte, 1, 0) == 1 else { return _ = close(client) }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        seen.withLock { $0.append(text) }
        let target = text.split(separator: " ").dropFirst().first ?? ""
        let server = Foundation.socket(AF_INET, Self.stream, 0)
        var address = Self.address(UInt16(target.split(separator: ":").last ?? "") ?? 0)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let answer = Array((isConnected ? "HTTP/1.1 200 OK\r\n\r\n" : "HTTP/1.1 502 X\r\n\r\n").utf8)
        _ = unsafe send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        Thread.detachNewThread { Self.pass(from: server, to: client) }
        Self.pass(from: client, to: server)
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    private static func pass(from source: Int32, to target: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe recv(source, &bytes, bytes.count, 0)
            var done = 0
            while done < count {
                let sent = unsafe bytes.withUnsafeBytes {
                    unsafe send(target, $0.baseAddress! + done, count - done, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return }
                done += sent
            }
            guard count > 0 else { return _ = shutdown(target, Int32(SHUT_WR)) }
        }
    }
}
