/// Writes messages of HTTP/1.1 (RFC 9112).
public enum MessageEncoder {
    /// The head of a response, with the fields that frame its body.
    ///
    /// - Parameters:
    ///   - response: What is answered.
    ///   - method: The method of the request; a HEAD gets the length and no body.
    ///   - minorVersion: The digit after `HTTP/1.` of the request.
    ///   - keepsAlive: Whether another request may follow.
    /// - Returns: The bytes, how the body that follows is to be framed, and whether the connection can be used again.
    public static func head(
        of response: HTTPResponse, answering method: String, minorVersion: Int, keepsAlive: Bool
    ) -> (bytes: [UInt8], framing: BodyFraming, keepsAlive: Bool) {
        var keepsAlive = keepsAlive
        var headers = response.headers
        var framing = BodyFraming.none
        if response.status >= 200, response.status != 204, response.status != 304 {
            switch response.body {
            case .none: framing = .length(0)
            case .bytes(let bytes): framing = .length(UInt64(bytes.count))
            case .stream(_, let length?): framing = .length(length)
            case .stream(_, nil): framing = minorVersion == 1 ? .chunked : .untilClose
            }
        }
        switch framing {
        case .none: break
        case .length(let count): headers["Content-Length"] = String(count)
        case .chunked: headers["Transfer-Encoding"] = "chunked"
        case .untilClose: keepsAlive = false
        }
        if response.upgrade != nil {
            // The field names the upgrade, and no other request follows.
            keepsAlive = false
        } else if !keepsAlive {
            headers["Connection"] = "close"
        } else if minorVersion == 0 {
            headers["Connection"] = "keep-alive"
        }
        let line = "HTTP/1.1 \(response.status) \(HTTPResponse.phrase(response.status))\r\n"
        return (lines(headers, after: line), method == "HEAD" ? .none : framing, keepsAlive)
    }

    /// The head of a request.
    ///
    /// - Parameter framing: How its body is framed.
    public static func head(of request: HTTPRequest, _ framing: BodyFraming) -> [UInt8] {
        var headers = request.headers
        switch framing {
        case .length(let count): headers["Content-Length"] = String(count)
        case .chunked: headers["Transfer-Encoding"] = "chunked"
        case .none, .untilClose: break
        }
        return lines(headers, after: "\(request.method) \(request.target) HTTP/1.1\r\n")
    }

    /// What goes before the bytes of a chunk, of which there are some.
    public static func chunkStart(_ count: Int) -> [UInt8] { Array(String(count, radix: 16).utf8) + chunkEnd }

    /// What goes behind the bytes of a chunk.
    public static let chunkEnd: [UInt8] = [13, 10]

    /// What ends a chunked body.
    public static let lastChunk = Array("0\r\n\r\n".utf8)

    /// The answer that makes a waiting client send its body.
    public static let `continue` = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// The fields and the empty line after them, behind a first line. What would end a line early is left out, so that no value can add
    /// fields.
    static func lines(_ headers: HTTPHeaders, after line: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            headers.fields.reduce(line.utf8.count + 2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
        bytes += line.utf8
        for field in headers.fields {
            append(field.name, to: &bytes, where: Syntax.isToken)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(0x20)
            append(field.value, to: &bytes) { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            bytes.append(13)
            bytes.append(10)
        }
        bytes.append(13)
        bytes.append(10)
        return bytes
    }

    /// Appends the bytes of a text that may stand there: nearly always all of them.
    private static func append(
        _ text: String, to bytes: inout [UInt8], where isAllowed: (UInt8) -> Bool
    ) {
        let start = bytes.count
        bytes += text.utf8
        for index in start..<bytes.count where !isAllowed(bytes[index]) {
            bytes.replaceSubrange(start..., with: text.utf8.filter(isAllowed))
            return
        }
    }
}
