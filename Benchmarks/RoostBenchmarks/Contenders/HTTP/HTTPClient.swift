import Glibc

/// A client that keeps its connection, for one thread. It understands of HTTP/1.1 what these servers send, and no more, so
/// that little of the machine goes to it.
final class HTTPClient {
    /// The connection.
    let socket: Int32
    private let fields: [UInt8]
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var position = 0
    private var end = 0

    /// Connects to a port of this machine.
    ///
    /// - Parameter fields: Lines of the head that each request has.
    init(port: UInt16, fields: String = "") throws {
        self.fields = Array("Host: 127.0.0.1\r\nContent-Type: application/json\r\n\(fields)".utf8)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(loopback: port)
        let socket = socket
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw BenchmarkError("nobody answers at port \(port)") }
        var yes: Int32 = 1
        unsafe setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { Glibc.close(socket) }

    /// Asks, and waits for the whole answer.
    ///
    /// - Throws: When the status is not the one that is wanted.
    func perform(_ request: ServerRequest) throws {
        switch try begin(request) {
        case .length(let length): try skip(length)
        case .chunks:
            while true {
                let length = try number(in: try line(), from: 0, radix: 16)
                try skip(length)
                try skip(2)
                if length == 0 { break }
            }
        }
    }

    /// How long the body of an answer is.
    enum Framing {
        case length(Int)
        case chunks
    }

    /// Asks, and waits for the head of the answer.
    @discardableResult
    func begin(_ request: ServerRequest) throws -> Framing {
        var message = Array("\(request.method) \(request.target) HTTP/1.1\r\n".utf8) + fields
        if !request.body.isEmpty { message += "Content-Length: \(request.body.count)\r\n".utf8 }
        message += "\r\n".utf8
        message += request.body
        try send(message)
        let status = try number(in: try line(), from: 9, radix: 10)
        guard status == request.status else {
            throw BenchmarkError("\(request.method) \(request.target) was answered with \(status)")
        }
        var framing = Framing.length(0)
        while true {
            let line = try line()
            if line.isEmpty { return framing }
            if Self.begins(line, "content-length: ") {
                framing = .length(try number(in: line, from: 16, radix: 10))
            } else if Self.begins(line, "transfer-encoding: chunked") {
                framing = .chunks
            }
        }
    }

    /// Gives its memory back, when nothing more is read by this.
    func forgetBuffer() { (buffer, position, end) = ([], 0, 0) }

    private func send(_ message: [UInt8]) throws {
        var sent = 0
        while sent < message.count {
            let count = unsafe message.withUnsafeBytes {
                unsafe Glibc.send(
                    socket, $0.baseAddress! + sent, message.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw BenchmarkError("the server hung up") }
            sent += count
        }
    }

    private func receive() throws {
        let socket = socket
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(socket, $0.baseAddress!, $0.count, 0)
        }
        guard count > 0 else { throw BenchmarkError("the server hung up") }
        (position, end) = (0, count)
    }

    /// The next line, without its end.
    private func line() throws -> [UInt8] {
        var line: [UInt8] = []
        while true {
            if position == end { try receive() }
            let rest = buffer[position..<end]
            guard let newline = rest.firstIndex(of: 10) else {
                line += rest
                position = end
                continue
            }
            line += buffer[position..<newline]
            position = newline + 1
            if line.last == 13 { line.removeLast() }
            return line
        }
    }

    private func skip(_ count: Int) throws {
        var left = count
        while left > 0 {
            if position == end { try receive() }
            let taken = min(left, end - position)
            position += taken
            left -= taken
        }
    }

    private func number(in line: [UInt8], from start: Int, radix: Int) throws -> Int {
        let digits = line.dropFirst(start).prefix { $0 != 32 && $0 != 59 }
        guard let number = Int(String(decoding: digits, as: UTF8.self), radix: radix) else {
            throw BenchmarkError("the server's answer can't be understood")
        }
        return number
    }

    /// Whether a line begins so; `start` is in lower case.
    private static func begins(_ line: [UInt8], _ start: StaticString) -> Bool {
        guard line.count >= start.utf8CodeUnitCount else { return false }
        return start.withUTF8Buffer { start in
            (0..<start.count).allSatisfy { unsafe line[$0] | 0x20 == start[$0] | 0x20 }
        }
    }
}

extension ServerContender {
    /// Asks at a port of this machine, from a thread for each client.
    func perform(
        clients: Int, port: UInt16, fields: String = "",
        _ next: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest?
    ) throws -> Int {
        try onThreads(
            clients, prepare: { _ in try HTTPClient(port: port, fields: fields) },
            work: { index, client in
                var number = 0
                while let request = next(index, number) {
                    try client.perform(request)
                    number += 1
                }
                return number
            }
        ).reduce(0, +)
    }
}
