import Foundation
import Roost

/// A bird that was seen.
public struct Sighting: Codable, Sendable, Identifiable, Hashable {
    /// The document's ID.
    public var id: String
    /// The name of the bird.
    public var species: String
    /// What there is to say.
    public var note: String
    /// When it was seen.
    public var date: Date
    /// How many there were; added in the app's second version.
    public var count: Int
    /// Whether there is a photo. It is an attachment of the document, which is carried to other devices, as a blob that a property names
    /// is not.
    public var hasPhoto: Bool?

    /// A new sighting.
    public init(species: String, note: String = "", date: Date, count: Int = 1) {
        id = UUID().uuidString
        (self.species, self.note, self.date, self.count) = (species, note, date, count)
    }
}

extension DatabaseMigrator {
    /// Brings databases of all versions of the app to ``Sighting``. A step that was released is never changed.
    public static let journal: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("sightings have a count") { step in
            try step.updateAll(in: try step.collection("sightings")) { sighting in
                if sighting["count"] == nil { sighting["count"] = 1 }
            }
        }
        migrator.registerMigration("the bird is called species") { step in
            try step.updateAll(in: try step.collection("sightings")) { sighting in
                guard let bird = sighting["bird"] else { return }
                sighting["species"] = bird
                sighting["bird"] = nil
            }
        }
        return migrator
    }()
}
