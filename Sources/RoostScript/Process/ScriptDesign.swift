import Fleece
import Roost
import RoostCrypto

/// What functions see of their design document.
struct ScriptDesign: Sendable {
    /// Tells it from all others: of the same key, it is the same to the last byte.
    let key: String
    /// The request that gives it to the prelude.
    let loading: [UInt8]

    init(_ document: Document) { self.init(text: document.jsonBytes()) }

    /// - Parameter text: The document as JSON.
    init(text: [UInt8]) {
        let hash = SHA256.hash(text).bytes
        key = hash.map { String($0, radix: 16) }.joined(separator: ".")
        loading = ScriptRequest.text("load", [], [text])
    }
}

/// The text of a request for the prelude.
enum ScriptRequest {
    /// - Parameters:
    ///   - kind: What is to be done.
    ///   - path: Where the function stands in the design document.
    ///   - arguments: JSON texts.
    static func text(_ kind: String, _ path: [String], _ arguments: [[UInt8]]) -> [UInt8] {
        var bytes = Array("[\"\(kind)\",".utf8)
        bytes += list(path.map(string))
        for argument in arguments {
            bytes.append(UInt8(ascii: ","))
            bytes += argument
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A JSON array of JSON texts.
    static func list(_ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A text as JSON.
    static func string(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonString: text)
        return bytes
    }
}
