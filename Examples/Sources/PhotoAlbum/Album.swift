import Foundation
import Roost

/// What the album knows of a picture, without the picture itself.
struct Photo: Codable, Sendable {
    var caption: String
    var taken: Date
    var type: String
    var byteCount: Int
}

/// An encrypted album: who has its files but not its key learns nothing but sizes.
///
/// Pictures are binary values in documents of their own, in a second collection, so that listing captions does not
/// touch them.
struct Album: Sendable {
    private let database: Database
    private let photos: DocumentCollection
    private let pictures: DocumentCollection

    init(_ path: String, key: EncryptionKey) throws {
        database = try Database.open(path, options: DatabaseOptions(key: key))
        photos = try database.collection("photos")
        pictures = try database.collection("pictures")
    }

    /// Adds a picture and what is known of it, both or none; returns its ID.
    @discardableResult
    func add(_ picture: [UInt8], type: String, caption: String, taken: Date) throws -> String {
        try database.write { batch in
            let photo = Photo(caption: caption, taken: taken, type: type, byteCount: picture.count)
            let id = taken.ISO8601Format() + "-" + UUID().uuidString.prefix(8)
            try batch.save(photo, id: id, in: photos)
            var document = MutableDocument(id: id, ["bytes": .data(picture)])
            try batch.save(&document, in: pictures)
            return id
        }
    }

    /// All photos in the order in which they were taken.
    func list() throws -> [(id: String, photo: Photo)] {
        try photos.snapshot().documents().map { ($0.id, try $0.decode(Photo.self)) }
    }

    /// The picture itself.
    func picture(_ id: String) throws -> Data? { try pictures.get(id)?["bytes"].data.map { Data($0) } }

    /// Gives the album another key: all of it is written anew.
    func changeKey(to key: EncryptionKey) throws { try database.changeKey(to: key) }

    func close() throws { try database.close() }
}
