import Fleece
import Foundation
import Roost

/// The indexes of one kind that a collection is to have, as they are kept in its metadata: a JSON object, by name.
///
/// Names are the same when their bytes are.
struct IndexList<Index: ListedIndex>: Sendable {
    var indexes = NamedValues<Index>()

    init(of snapshot: CollectionSnapshot) throws(DatabaseError) {
        try self.init(try snapshot.metadata(Index.metadataName))
    }

    init(_ bytes: [UInt8]?) throws(DatabaseError) {
        guard let bytes, !bytes.isEmpty else { return }
        do {
            for (name, index) in try FleeceDocument(json: bytes).root.dictionary ?? .empty {
                indexes[name] = try JSONDecoder().decode(Index.self, from: Data(index.json().utf8))
            }
        } catch {
            throw DatabaseError(
                .damaged,
                "The list of the collection's \(Index.plural) can't be read. Remove its metadata \"\(Index.metadataName)\".",
                underlyingError: error)
        }
    }

    /// Changes the list that `collection` has, whoever else changes it.
    static func change(
        in collection: DocumentCollection, _ body: (inout NamedValues<Index>) -> Void
    ) throws(DatabaseError) {
        do {
            try collection.database.write { batch in
                var list = try Self(try batch.metadata(Index.metadataName, in: collection))
                body(&list.indexes)
                try batch.setMetadata(try list.encoded, name: Index.metadataName, in: collection)
            }
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    private var encoded: [UInt8] {
        get throws(DatabaseError) {
            var members: [String] = []
            for (name, index) in indexes {
                members.append("\(try DocumentValue.string(name).json()):\(try Self.json(index))")
            }
            return Array("{\(members.joined(separator: ","))}".utf8)
        }
    }

    private static func json(_ index: Index) throws(DatabaseError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return String(decoding: try encoder.encode(index), as: UTF8.self)
        } catch {
            throw DatabaseError(
                .invalidQuery, "The index \(index.name.debugDescription) can't be kept.",
                underlyingError: error)
        }
    }
}

/// The description of an index that is kept in a list.
protocol ListedIndex: Codable, Sendable {
    var name: String { get }
    /// The collection's metadata that the list is.
    static var metadataName: String { get }
    static var plural: String { get }
}

extension ValueIndex: ListedIndex {
    static let metadataName = "indexes"
    static let plural = "indexes"
}

extension TextIndex: ListedIndex {
    static let metadataName = "text-indexes"
    static let plural = "full-text indexes"
}
