/// A media type with its parameters, as `Content-Type` has it (RFC 9110, section 8.3.1).
public struct MediaType: Sendable, Equatable {
    /// `type/subtype` in small letters.
    public let essence: String
    /// The parameters, names in small letters, quotation marks taken away.
    public let parameters: [String: String]

    /// Reads the value of a field; `nil` where it is no media type.
    public init?(_ text: String?) {
        guard let text else { return nil }
        var parts = Self.split(text)[...]
        guard let first = parts.popFirst() else { return nil }
        essence = first.lowercased()
        guard essence.split(separator: "/", omittingEmptySubsequences: false).count == 2 else { return nil }
        var parameters: [String: String] = [:]
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            parameters[HTTPHeaders.trimmed(pair[0]).lowercased()] = Self.unquoted(
                HTTPHeaders.trimmed(pair[1]))
        }
        self.parameters = parameters
    }

    /// The parts between semicolons outside quotation marks.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == ";", !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map { HTTPHeaders.trimmed($0) }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            result.append(character)
            isEscaped = false
        }
        return result
    }

    /// Whether a client that sent `accept` takes `type`, a whole media type in small letters. One that sent nothing takes
    /// everything.
    public static func accepts(_ accept: String?, _ type: String, wildcards: Bool = true) -> Bool {
        guard let accept else { return wildcards }
        let group = type.prefix { $0 != "/" } + "/*"
        return accept.split(separator: ",").contains { element in
            guard let offered = MediaType(HTTPHeaders.trimmed(element)) else { return false }
            if let quality = offered.parameters["q"], Double(quality) == 0 { return false }
            return offered.essence == type
                || wildcards && (offered.essence == group || offered.essence == "*/*")
        }
    }
}

/// The value of `Content-Disposition: attachment; filename="…"`.
public enum ContentDisposition {
    /// The field for a file of that name, quoted.
    public static func attachment(_ name: String) -> String {
        "attachment; filename=\"" + name.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" } + "\""
    }

    /// The name that a field gives; `nil` where it gives none.
    public static func filename(_ field: String?) -> String? {
        // The same grammar as a media type's parameters, after one word instead of two.
        field.flatMap { MediaType("x/" + $0) }?.parameters["filename"]
    }
}

/// Server-sent events (the HTML standard, section 9.2).
public enum EventStream {
    /// The media type.
    public static let mediaType = "text/event-stream"

    /// An event with data of one line and the ID from which a client goes on after it lost the connection.
    public static func event(_ data: [UInt8], id: String) -> [UInt8] {
        var bytes = Array("data: ".utf8)
        bytes += data
        bytes += "\nid: ".utf8
        bytes += id.utf8.filter { $0 != 10 && $0 != 13 }
        bytes += "\n\n".utf8
        return bytes
    }

    /// A sign of life.
    public static let heartbeat = Array("event: heartbeat\ndata: \n\n".utf8)
}
