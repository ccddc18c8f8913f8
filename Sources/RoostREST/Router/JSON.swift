import Fleece
import RoostWire

/// A JSON value that is to be answered; members of objects keep their order.
enum JSON: Sendable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// Text in UTF-8 that is JSON already.
    case text([UInt8])

    init(nilLiteral: ()) { self = .null }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }

    /// A whole number.
    static func number(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }

    /// A list of texts.
    static func strings(_ values: some Sequence<String>) -> JSON { .array(values.map { .string($0) }) }

    /// The text in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// Writes the text.
    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .string(let value): bytes.append(jsonString: value)
        case .text(let text): bytes += text
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (name, value)) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(jsonString: name)
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

/// JSON texts that come with a request.
enum FleeceText {
    /// Parses a body.
    ///
    /// - Throws: 400 in CouchDB's words.
    static func parse(_ bytes: some Collection<UInt8>) throws -> FleeceDocument {
        do throws(FleeceError) {
            return try FleeceDocument(json: bytes)
        } catch {
            throw HTTPFailure.badRequest("invalid UTF-8 JSON: \(error.message)")
        }
    }

    /// The text that a JSON string stands for.
    static func string(_ json: ArraySlice<UInt8>) throws -> String {
        try FleeceDocument(json: json).root.string ?? ""
    }
}

/// The order in which an object's members stand in a JSON text, which the parsed value does not keep.
///
/// Bodies of a multipart document belong to its attachments in that order (CouchDB's API, "multipart/related").
enum MemberOrder {
    /// The names of the members of the object under the top-level member `name`; none where there is no such object. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(under name: String, in text: [UInt8]) -> [String] {
        members(of: text[...]).filter { $0.name == name }.flatMap { members(of: $0.value).map(\.name) }
    }

    /// The names of the members of the object that `text` is; none where it is something else. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(in text: [UInt8]) -> [String] { members(of: text[...]).map(\.name) }

    private static func members(
        of text: ArraySlice<UInt8>
    ) -> [(name: String, value: ArraySlice<UInt8>)] {
        (JSONParts.members(of: text) ?? []).map { ((try? FleeceText.string($0.name)) ?? "", $0.value) }
    }
}

/// The answers to several queries as `{"results":[…]}`: each is begun when the one before has been sent, so that none of them is held
/// in memory.
actor ResultsBody: BodyStream {
    private let count: Int
    private let answer: @Sendable (Int) throws -> any BodyStream
    private var place = 0
    private var current: (any BodyStream)?
    private var isBeginning = true

    /// - Parameters:
    ///   - count: The number of queries.
    ///   - answer: Begins the answer to the query of a number: a JSON text.
    init(count: Int, _ answer: @escaping @Sendable (Int) throws -> any BodyStream) {
        self.count = count
        self.answer = answer
    }

    func next() async throws -> [UInt8]? {
        guard place <= count else { return nil }
        var bytes: [UInt8] = []
        if isBeginning { bytes += "{\"results\":[".utf8 }
        isBeginning = false
        while place < count {
            let body = try current ?? answer(place)
            current = body
            if let piece = try await body.next() { return bytes + piece }
            current = nil
            place += 1
            if place < count { bytes.append(UInt8(ascii: ",")) }
        }
        place += 1
        return bytes + Array("]}\n".utf8)
    }
}
