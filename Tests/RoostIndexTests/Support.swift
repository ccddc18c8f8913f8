import Fleece
import Roost
import RoostBytes
import RoostFile
import RoostOrder
import RoostSimulation
import RoostStorage

@testable import RoostIndex

/// Numbers that look random and are the same in every run (SplitMix64, Steele, Lea and Flood 2014).
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}

/// Documents have tags, the index a row for each with the document's value, and sums the values up.
func tagIndex(_ version: String = "1") -> IndexDefinition {
    let sum = IndexReduction(name: "sum-\(version)") {
        TextSum()
    } combine: { values in
        encode(values.reduce(0) { $0 + decode($1.array[...]) })
    }
    return IndexDefinition(name: "test/tags", signature: version, reduction: sum) { documents, _ in
        var rows = IndexRows(of: documents)
        for index in 0..<documents.count {
            let document = try documents.document(index)
            rows.begin(index)
            for tag in document["tags"].array ?? .empty {
                let encoder = KeyEncoder(.binary)
                guard (try? encoder.append(tag)) != nil else { continue }
                let value = encode(document["v"].int ?? 0)
                value.withView { rows.add(encoder.view, payload: $0) }
            }
        }
        return rows
    }
}

/// Adds up payloads that are numbers in digits.
private struct TextSum: IndexReducer {
    let readsKeys = false
    private var sum = 0

    mutating func add(_ row: IndexRowView) { sum += decode(row.payload.array[...]) }

    func value() -> [UInt8] { encode(sum) }
}

private func encode(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }
func decode(_ bytes: ArraySlice<UInt8>) -> Int { Int(String(decoding: bytes, as: UTF8.self)) ?? .min }

/// What the index has to show: every document mapped again.
struct Expected: Equatable {
    var rows: [String] = []
    var sum = 0

    init(_ snapshot: CollectionSnapshot) throws {
        var keys: [(key: [UInt8], text: String)] = []
        for document in try snapshot.documents() {
            for (place, tag) in (document["tags"].array ?? .empty).enumerated() {
                let encoder = KeyEncoder(.binary)
                try encoder.append(tag)
                let key = encoder.key + Array(document.id.utf8) + [UInt8(place)]
                keys.append((key, "\(tag) \(document.id) \(document["v"].int ?? 0)"))
                sum += document["v"].int ?? 0
            }
        }
        rows = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.text)
    }

    init(_ reader: IndexReader) throws {
        let cursor = reader.cursor()
        while try cursor.next() { rows.append(try text(cursor.row)) }
        sum = try reader.reduce().map { decode($0[...]) } ?? 0
    }
}

/// A row as text.
func text(_ row: IndexRowView) throws -> String {
    var reader = KeyReader(row.component, .binary)
    var writer = FleeceWriter()
    _ = try reader.readValue(into: &writer)
    let tag = (try? FleeceDocument(trusting: writer.finish()).root).map { "\($0)" } ?? "?"
    return "\(tag) \(String(decoding: row.documentID.array, as: UTF8.self)) \(decode(row.payload.array[...]))"
}

extension DocumentCollection {
    /// Makes one random change.
    func change(_ batch: WriteTransaction, _ random: inout Random) throws {
        let id = "d\(Int.random(in: 0..<40, using: &random))"
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: try batch.delete(id, in: self)
        case 2: try batch.purge(id, in: self)
        default:
            let tags = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                ["\"sea\"", "\"gable\"", "3", "null", "\"nest\""].randomElement(using: &random) ?? "0"
            }
            let value = Int.random(in: -9..<99, using: &random)
            try batch.save(
                json: #"{"v":\#(value),"tags":[\#(tags.joined(separator: ","))]}"#, id: id, in: self)
        }
    }
}
