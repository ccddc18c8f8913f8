/// How JSON values are ordered: kinds among each other, and texts.
///
/// Arrays compare element by element, objects member by member in the order that Fleece keeps them in (by the names'
/// bytes), name before value; a proper beginning comes first. Numbers compare exactly, whatever their form: 1 is 1.0.
package struct Collation: Hashable, Sendable {
    /// The order of values of different kinds.
    package enum Kinds: Hashable, Sendable {
        /// Missing, null, false, true, numbers, strings, arrays, objects, data: CouchDB's order, and SQL's here.
        case json
        /// Missing, numbers, false, null, true, objects, arrays, strings, data: Erlang's order of terms, which CouchDB's
        /// `"collation": "raw"` means.
        case raw
    }

    /// The order of texts.
    package enum Texts: Hashable, Sendable {
        /// By the bytes of UTF-8, that is, by code points.
        case bytes
        /// By bytes, A to Z as a to z.
        case caselessASCII
        /// As people expect it.
        case unicode(UnicodeOrder)
    }

    package var kinds: Kinds
    package var texts: Texts

    package init(kinds: Kinds = .json, texts: Texts) {
        self.kinds = kinds
        self.texts = texts
    }

    /// CouchDB's view collation.
    package static let couchDB = Collation(texts: .unicode(UnicodeOrder()))
    /// CouchDB's raw collation.
    package static let raw = Collation(kinds: .raw, texts: .bytes)
    /// The order of queries that name no collation.
    package static let binary = Collation(texts: .bytes)

    /// The version of the keys' form, which ``signature`` has in it.
    static let keyVersion = 1

    /// Names the collation and the form of its keys. Keys made under one signature compare with each other for ever; an
    /// index that has another one is made anew.
    package var signature: String {
        let texts =
            switch texts {
            case .bytes: "bytes"
            case .caselessASCII: "nocase"
            case .unicode(let order): order.signature
            }
        return "keys-\(Self.keyVersion);\(kinds == .raw ? "raw" : "json");\(texts)"
    }

    /// The tags that the keys of values begin with.
    @inline(__always) var tags: KeyTags { kinds == .raw ? .raw : .json }
}
