import Roost
import RoostIndex

/// Indexes and views as lines of text.
enum DerivedText {
    static func lines(_ stores: [DerivedStore]) -> [String] {
        stores.flatMap { store in
            [heading(store)] + store.indexes.map { line($0, store) }
                + (store.damage.map { ["  damaged, and made anew when it is read: \($0)"] } ?? [])
        }
    }

    private static func heading(_ store: DerivedStore) -> String {
        let collection = store.collection.map { "\($0)" } ?? "of a collection that was dropped"
        return "derived      \(collection): \(store.file), \(Size.text(store.fileBytes)), "
            + Count.text(store.indexes.count, "index", "indexes")
    }

    private static func line(_ index: IndexStatus, _ store: DerivedStore) -> String {
        "  \(index.name): \(standing(of: index, store)), \(Count.text(index.rows, "row")), \(Size.text(index.bytes)), "
            + "sequence \(index.sequence)\(of(store)), version \(short(index.signature))"
    }

    private static func of(_ store: DerivedStore) -> String {
        store.moment.map { " of \($0.lastSequence)" } ?? ""
    }

    private static func standing(of index: IndexStatus, _ store: DerivedStore) -> String {
        switch store.standing(of: index) {
        case .current: "current"
        case .behind: "behind"
        case .building: "being built"
        case .foreign: "of other documents, so it is made anew"
        }
    }

    /// Signatures may have whole expressions in them.
    private static func short(_ signature: String) -> String {
        signature.count > 60 ? "\(signature.prefix(59))…" : signature
    }
}

/// Indexes and views as JSON.
enum DerivedJSON {
    static func text(_ stores: [DerivedStore]) -> String { JSONObject.array(stores.map(store)) }

    private static func store(_ store: DerivedStore) -> String {
        var object = JSONObject()
        object.add("file", store.file)
        if let collection = store.collection { object.add("collection", "\(collection)") }
        object.add("fileBytes", store.fileBytes)
        if let damage = store.damage { object.add("damage", damage) }
        object.add("indexes", raw: JSONObject.array(store.indexes.map { index($0, store) }))
        return object.text
    }

    private static func index(_ index: IndexStatus, _ store: DerivedStore) -> String {
        var object = JSONObject()
        object.add("name", index.name)
        object.add("state", store.standing(of: index).rawValue)
        object.add("version", index.signature)
        object.add("rows", index.rows)
        object.add("bytes", index.bytes)
        object.add("sequence", index.sequence)
        object.add("purgeSequence", index.purge)
        return object.text
    }
}
