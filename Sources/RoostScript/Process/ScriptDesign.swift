import Fleece
import Roost
import RoostCrypto

/// What functions see of their design document.
struct ScriptDesign: Sendable {
    /// Differs between design documents, between collections, and between versions of one design document.
    private let digest: [UInt8]
    /// The request that gives it to the prelude.
    private let loading: [UInt8]

    init(_ document: Document, in collection: DocumentCollection) {
        self.init(text: document.jsonBytes(), id: document.id, in: collection)
    }

    /// - Parameters:
    ///   - text: The document, or the part of it that its functions see, as JSON.
    ///   - id: The document's name.
    ///   - collection: The one that it is in; `nil` for functions that are only compiled.
    init(text: [UInt8], id: String = "", in collection: DocumentCollection? = nil) {
        // A database that is made in the place of another has its path, and a copy of one has its name.
        let owner = collection.map {
            "\($0.database.path)\0\($0.database.privateUUID)\0\($0.scopeName)\0\($0.collectionName)"
        }
        digest = SHA256.hash(Array("\(owner ?? "")\0\(id)\0".utf8) + text).bytes
        loading = ScriptRequest.text("load", [], [text])
    }

    /// One of its functions.
    func function(_ path: [String]) -> ScriptFunction {
        let hash = SHA256.hash(digest + ScriptRequest.list(path.map(ScriptRequest.string))).bytes
        return ScriptFunction(
            key: hash.map { String($0, radix: 16) }.joined(separator: "."), path: path, loading: loading)
    }
}

/// A function of a design document. Each one has a world of its own, so that what it does to its globals changes no other.
struct ScriptFunction: Sendable {
    /// Tells it from all others.
    let key: String
    /// Where it is in the design document.
    let path: [String]
    /// The request that gives its design document to the prelude.
    let loading: [UInt8]
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
