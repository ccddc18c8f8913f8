import Foundation
import RoostWire

/// How the lines of the log are written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `PEER - - [TIME] "METHOD TARGET VERSION" STATUS BYTES`, the common log format.
    case common
    /// One JSON object, with the members `time`, `peer`, `method`, `target`, `version`, `status`, `bytes` (of the body) and
    /// `microseconds` (from the head to the end of the answer). What is no request has neither method, target nor version.
    case json
}

/// A line of the log. Neither fields nor bodies are in it, which is where credentials are.
struct LogEntry {
    let peer: String
    /// Who asked, where that is known.
    let user: String?
    /// `nil` for what was no request.
    let head: RequestHead?
    let status: Int
    /// The name of the request, which its answer has, too.
    let request: String?
    /// Bytes of the answer's body.
    let count: Int
    let microseconds: UInt64
    var date = Date()

    func line(_ format: LogFormat) -> String {
        switch format {
        case .common: common
        case .json: json
        }
    }

    private var common: String {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let parts = HTTPDate.text(secondsSince1970: Int(date.timeIntervalSince1970)).split(separator: " ")
        let time = "\(parts[1])/\(parts[2])/\(parts[3]):\(parts[4]) +0000"
        let line = head.map { "\($0.method) \(Self.escaped($0.target)) HTTP/1.\($0.minorVersion)" } ?? "-"
        return "\(peer) - \(user.map(Self.word) ?? "-") [\(time)] \"\(line)\" \(status) \(count)"
    }

    /// A name as one word.
    private static func word(_ name: String) -> String {
        let text = escaped(name).replacing(" ", with: "\\x20")
        return text.isEmpty || text == "-" ? "\\x2D" : text
    }

    /// Without what would end the quotes, and without what terminals obey, in the form that other servers write.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            let isPlain =
                (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            escaped += isPlain ? String(UnicodeScalar(byte)) : "\\x" + hexadecimal(byte, digits: 2)
        }
        return escaped
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private var json: String {
        var members = ["\"time\":\"\(date.formatted(.iso8601))\"", "\"peer\":\(Self.quoted(peer))"]
        if let user { members.append("\"user\":\(Self.quoted(user))") }
        if let request { members.append("\"request\":\(Self.quoted(request))") }
        if let head {
            members += [
                "\"method\":\(Self.quoted(head.method))", "\"target\":\(Self.quoted(head.target))",
                "\"version\":\"HTTP/1.\(head.minorVersion)\"",
            ]
        }
        members += ["\"status\":\(status)", "\"bytes\":\(count)", "\"microseconds\":\(microseconds)"]
        return "{\(members.joined(separator: ","))}"
    }

    /// A text as JSON, in which no character is one that terminals obey.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": quoted += "\\\(scalar)"
            case "\u{0}"..<" ", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
                quoted += "\\u" + hexadecimal(scalar.value, digits: 4)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
