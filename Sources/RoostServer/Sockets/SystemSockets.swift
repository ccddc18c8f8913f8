#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A call of the system that failed.
public struct SocketError: Error, Sendable, CustomStringConvertible {
    /// The system's number of the error.
    public let code: Int32
    /// What was tried, and why it failed.
    public let description: String

    init(_ attempt: String, _ code: Int32 = errno) {
        self.code = code
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        description = "\(attempt): \(reason)."
    }
}

/// The system's calls for TCP sockets that never block.
enum SystemSockets {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
        /// A peer that has gone is an error and not a signal.
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #elseif canImport(Musl)
        private static let stream = SOCK_STREAM
        private static let sendFlags = MSG_NOSIGNAL
    #else
        private static let stream = SOCK_STREAM
        private static let sendFlags: Int32 = 0
    #endif

    /// A socket that listens.
    ///
    /// - Parameters:
    ///   - address: An address of this machine in figures, IPv4 or IPv6.
    ///   - port: 0 takes a free one.
    /// - Returns: The socket and its port.
    static func listen(_ address: String, _ port: UInt16) throws(SocketError) -> (socket: Int32, port: UInt16)
    {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        unsafe hints.ai_socktype = stream
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address, String(port), &hints, &found) == 0, let info = unsafe found else {
            throw SocketError("\(address) is no address in figures", EINVAL)
        }
        defer { unsafe freeaddrinfo(info) }
        let socket = unsafe socket(info.pointee.ai_family, stream, 0)
        guard socket >= 0 else { throw SocketError("No socket for \(address)") }
        var yes: Int32 = 1
        unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(socket, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
            systemListen(socket, 1024) == 0
        else {
            let error = SocketError("Nobody can listen at \(address):\(port)")
            close(socket)
            throw error
        }
        prepare(socket)
        return (socket, unsafe Self.address(of: socket, getsockname).port)
    }

    /// The next connection that waits; `nil` when there is none.
    static func accept(_ listener: Int32) -> (socket: Int32, peer: String)? {
        while true {
            let socket = systemAccept(listener)
            if socket >= 0 {
                prepare(socket)
                var yes: Int32 = 1
                unsafe setsockopt(
                    socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return (socket, unsafe Self.address(of: socket, getpeername).text)
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Gives a descriptor back.
    static func close(_ socket: Int32) { _ = systemClose(socket) }

    /// Lets closing end the connection by a reset (RFC 9293, 3.10.5), so that the other side sees that it broke off.
    static func resetWhenClosed(_ socket: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Sends no more; the other side may.
    static func finishWriting(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_WR)) }

    private static func prepare(_ socket: Int32) {
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var yes: Int32 = 1
            unsafe setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// What came of trying to read or write.
    enum Outcome {
        case bytes(Int)
        case wouldBlock
        /// The other side has closed, or the connection broke.
        case ended
    }

    static func receive(_ socket: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        outcome { unsafe recv(socket, buffer.baseAddress, buffer.count, 0) }
    }

    /// Whether something has come that was not read yet.
    static func hasInput(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    static func send(_ socket: Int32, _ buffer: UnsafeRawBufferPointer) -> Outcome {
        outcome { unsafe systemSend(socket, buffer.baseAddress, buffer.count, sendFlags) }
    }

    private static func outcome(_ call: () -> Int) -> Outcome {
        while true {
            let count = call()
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .ended
        }
    }

    private static func address(
        of socket: Int32,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> (text: String, port: UInt16) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: 128)
        var service = [CChar](repeating: 0, count: 32)
        let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe call(socket, address, &length) == 0 else { return Int32(-1) }
                return unsafe getnameinfo(
                    address, length, &host, socklen_t(host.count), &service, socklen_t(service.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        guard status == 0 else { return ("", 0) }
        return (text(host), UInt16(text(service)) ?? 0)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// Within the type above, the names of its own methods would hide these.
private func systemListen(_ socket: Int32, _ backlog: Int32) -> Int32 { listen(socket, backlog) }
private func systemClose(_ socket: Int32) -> Int32 { close(socket) }
private func systemAccept(_ socket: Int32) -> Int32 { accept(socket, nil, nil) }
private func systemSend(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(socket, bytes, count, flags)
}
