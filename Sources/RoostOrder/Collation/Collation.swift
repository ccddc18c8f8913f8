import Fleece
import RoostBytes

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

// MARK: - Compare

extension Collation {
    /// How `a` compares with `b`: negative, zero or positive. What is nested deeper than a body may be counts as equal.
    package func compare(_ a: FleeceValue, _ b: FleeceValue) -> Int { compare(a, b, depth: 0) }

    /// How the text `a` compares with `b`, both UTF-8.
    package func compare(texts a: ByteView, _ b: ByteView) -> Int {
        switch texts {
        case .bytes: return a.compare(b)
        case .caselessASCII: return Self.compareCaseless(a, b)
        case .unicode(let order): return Self.compare(a, b, by: order)
        }
    }

    /// How the text `a` compares with `b`.
    package func compare(_ a: String, _ b: String) -> Int {
        var (a, b) = (a, b)
        return a.withUTF8 { a in
            b.withUTF8 { b in
                unsafe compare(
                    texts: ByteView(UnsafeRawBufferPointer(a)), ByteView(UnsafeRawBufferPointer(b)))
            }
        }
    }

    private func compare(_ a: FleeceValue, _ b: FleeceValue, depth: Int) -> Int {
        let (kindA, kindB) = (rank(a), rank(b))
        guard kindA == kindB else { return kindA < kindB ? -1 : 1 }
        if kindA == tags.positive { return Self.compareNumbers(a, b) }
        switch a.kind {
        case .undefined, .null, .bool, .integer, .double: return 0
        case .string:
            return unsafe a.withUTF8 { a in
                unsafe b.withUTF8 { b in unsafe compare(texts: ByteView(a), ByteView(b)) } ?? 0
            } ?? 0
        case .data: return Self.compareData(a, b)
        case .array, .dictionary:
            guard depth < FleeceLimits.maximumDepth else { return 0 }
            return a.kind == .array
                ? compare(a.array ?? .empty, b.array ?? .empty, depth: depth + 1)
                : compare(a.dictionary ?? .empty, b.dictionary ?? .empty, depth: depth + 1)
        }
    }

    /// The place of a value's kind, as the tags of keys have it; the same for all numbers.
    private func rank(_ value: FleeceValue) -> UInt8 {
        switch value.kind {
        case .undefined: KeyTags.missing
        case .null: tags.null
        case .bool: value.bool == true ? tags.true : tags.false
        case .integer, .double: tags.positive
        case .string: tags.text
        case .data: KeyTags.data
        case .array: tags.array
        case .dictionary: Self.decimal(value) == nil ? tags.object : tags.positive
        }
    }

    private static func compareNumbers(_ a: FleeceValue, _ b: FleeceValue) -> Int {
        if let a = a.int64, let b = b.int64 { return a < b ? -1 : a == b ? 0 : 1 }
        let (a, b) = (number(a), number(b))
        return a < b ? -1 : a == b ? 0 : 1
    }

    private static func number(_ value: FleeceValue) -> OrderedNumber {
        if let number = value.int64 { return OrderedNumber(number) }
        if let number = value.uint64 { return OrderedNumber(number) }
        return OrderedNumber(value.double ?? decimal(value) ?? 0) ?? OrderedNumber(UInt64(0))
    }

    /// The number that is nearest to a decimal that no number carries; `nil` for anything else.
    private static func decimal(_ value: FleeceValue) -> Double? {
        value.kind == .dictionary ? value.withNode(\.nearestToDecimal) ?? nil : nil
    }

    private static func compareData(_ a: FleeceValue, _ b: FleeceValue) -> Int {
        (a.data ?? []).withView { a in (b.data ?? []).withView { b in a.compare(b) } }
    }

    private func compare(_ a: FleeceArray, _ b: FleeceArray, depth: Int) -> Int {
        for (a, b) in zip(a, b) {
            let order = compare(a, b, depth: depth)
            if order != 0 { return order }
        }
        return a.count - b.count
    }

    private func compare(_ a: FleeceDictionary, _ b: FleeceDictionary, depth: Int) -> Int {
        for (a, b) in zip(a.sortedByName, b.sortedByName) {
            let names = compare(a.key, b.key)
            if names != 0 { return names }
            let order = compare(a.value, b.value, depth: depth)
            if order != 0 { return order }
        }
        return a.count - b.count
    }

    private static func compareCaseless(_ a: ByteView, _ b: ByteView) -> Int {
        for index in 0..<min(a.count, b.count) {
            let (x, y) = (lowercased(a[index]), lowercased(b[index]))
            if x != y { return x < y ? -1 : 1 }
        }
        return a.count - b.count
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }

    private static func compare(_ a: ByteView, _ b: ByteView, by order: UnicodeOrder) -> Int {
        if a.compare(b) == 0 { return 0 }
        let (keyA, keyB) = (ByteBuffer(), ByteBuffer())
        var maker = SortKeyMaker(order)
        maker.append(a, to: keyA)
        maker.append(b, to: keyB)
        return keyA.view.compare(keyB.view)
    }
}

extension FleeceDictionary {
    /// The members by the bytes of their names, which is how they stand unless some names are shared keys.
    var sortedByName: [Element] {
        let members = Array(self)
        let isSorted = zip(members, members.dropFirst()).allSatisfy { $0.key.precedesByBytes($1.key) }
        return isSorted ? members : members.sorted { $0.key.precedesByBytes($1.key) }
    }
}

extension String {
    /// Order by UTF-8, which Swift's own order of strings is not.
    func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

// MARK: - Prefix

extension Collation {
    /// What the keys of all texts begin with that begin with `text`, byte by byte; `nil` where they may begin in more than one way.
    ///
    /// A key in Unicode's order begins with the primary weights of its text. Those of what begins with plain ASCII begin with those of the ASCII,
    /// as long as no character of it can count as one with what follows.
    package func keyPrefix(ofTextsWith text: String) -> [UInt8]? {
        let encoder = KeyEncoder(self)
        encoder.append(text)
        let key = encoder.key
        guard case .unicode(let order) = texts else { return Array(key.dropLast()) }
        guard order.tailoring == nil,
            text.utf8.allSatisfy({ $0 < 0x80 && CollationTable.root.places[UInt32($0)] >> 31 == 0 })
        else { return nil }
        // The tag, and what precedes the end of the first level.
        return Array(key.prefix(1) + key.dropFirst().prefix { $0 > 1 })
    }
}
