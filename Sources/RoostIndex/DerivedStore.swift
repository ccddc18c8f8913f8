import Roost
import RoostStorage

/// What is derived from the documents of one collection, for people to look at.
package struct DerivedStore: Sendable {
    /// The file, in the database's directory.
    package let file: String
    /// The collection; `nil` for one that is there no more, whose store the next writer removes.
    package let collection: DocumentCollection?
    /// The moment of the collection that the indexes are compared with.
    package private(set) var moment: CollectionSnapshot?
    /// How large the file is.
    package let fileBytes: UInt64
    /// The indexes, by name; none where they can't be read.
    package private(set) var indexes: [IndexStatus] = []
    /// Why what is derived can't be relied on. It is made anew when it is read next.
    package private(set) var damage: String?

    /// How an index stands to the documents.
    package enum Standing: String, Sendable {
        /// It shows the newest commit.
        case current
        /// What has changed since is looked at, or caught up with, by who reads it.
        case behind
        /// It is being built, or goes on being built when it is read next.
        case building
        /// It was made of other documents, such as those before a restore, and is made anew when it is read.
        case foreign
    }

    /// How `index`, one of ``indexes``, stands to the documents.
    package func standing(of index: IndexStatus) -> Standing {
        guard let moment, index.epoch == moment.epoch, !index.record.isAhead(of: moment) else {
            return .foreign
        }
        guard index.isComplete else { return .building }
        return index.record.isCurrent(at: moment) ? .current : .behind
    }

    fileprivate init(
        _ stores: AuxiliaryStores, _ name: String, _ collection: DocumentCollection?,
        checking: CheckOptions?, progress: ProgressHandler?
    ) throws {
        file = "derived/\(name).roost"
        self.collection = collection
        fileBytes = try stores.fileBytes(name)
        do throws(StoreError) {
            if let checking { try check(stores, name, checking, progress) }
            if damage == nil { try look(stores, name, progress, isChecked: checking != nil) }
        } catch {
            guard error.code != .cancelled else { throw error }
            damage = error.message
        }
        // After the indexes, which can't be ahead of it then.
        moment = try collection?.snapshot()
    }

    private mutating func check(
        _ stores: AuxiliaryStores, _ name: String, _ checking: CheckOptions, _ progress: ProgressHandler?
    ) throws(StoreError) {
        let report = try stores.check(name, checking, progress: progress)
        let worst = report.findings.max { $0.severity < $1.severity }
        if let worst, worst.severity == .error { damage = "\(worst)" }
    }

    private mutating func look(
        _ stores: AuxiliaryStores, _ name: String, _ progress: ProgressHandler?, isChecked: Bool
    ) throws(StoreError) {
        let store = try stores.storeToLook(name)
        defer { try? store.close() }
        do {
            let kept = IndexStore(store: store)
            indexes = try kept.statuses()
            guard isChecked else { return }
            damage = try kept.findings { done, total in
                guard progress?(WorkProgress(completed: done, total: total)) != false else {
                    throw StoreError(.cancelled, "The check was cancelled.")
                }
            }.first
        } catch {
            throw error as? StoreError ?? StoreError(.damaged, error.sentence)
        }
    }
}

extension Database {
    /// What is derived from the documents, by collection. Nothing is opened that was not, brought up, thrown away or written.
    ///
    /// - Parameters:
    ///   - checking: what to verify; `nil` to read only what indexes there are, in O(number of indexes).
    ///   - progress: called on this thread while something is verified; returns `false` to stop.
    /// - Throws: `DatabaseError`; `StoreError` with `cancelled`. Damage is in the answer.
    package func derivedStores(
        checking: CheckOptions? = nil, progress: ProgressHandler? = nil
    ) throws -> [DerivedStore] {
        var collections: [String: DocumentCollection] = [:]
        for scope in try scopes {
            for collection in try self.collections(scope: scope) {
                collections["\(try collection.snapshot().number)"] = collection
            }
        }
        return try auxiliaryStores.names().map { name in
            try DerivedStore(
                auxiliaryStores, name, collections[name], checking: checking, progress: progress)
        }
    }
}
