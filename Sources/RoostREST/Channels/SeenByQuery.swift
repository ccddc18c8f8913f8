import Roost
import RoostQuery

/// The documents that a user of channels sees, for a query.
final class SeenByQuery: VisibleDocuments {
    let collection: DocumentCollection
    private let sight: Sight
    private let access: ChannelAccess

    /// - Returns: `nil` where everything is seen.
    init?(_ collection: DocumentCollection, _ sight: Sight) {
        guard let access = sight.access else { return nil }
        self.collection = collection
        self.sight = sight
        self.access = access
    }

    func documents(in selection: DocumentSelection) throws -> () throws -> Document? {
        var documents = try SeenDocuments(selection, access, sight)
        return { try documents.next() }
    }

    func document(_ id: String) throws -> Document? { try sight.live(id) }
}
