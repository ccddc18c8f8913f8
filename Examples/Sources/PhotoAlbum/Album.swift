import Foundation
import Roost

/// What the album knows of a picture, and where the picture is.
struct Photo: Codable, Sendable, Identifiable {
    var id: String
    var caption: String
    var taken: Date
    var picture: Blob
}

/// An encrypted album: who has its files but not its key learns nothing but sizes.
///
/// Pictures are blobs: files beside the documents, so that listing captions does not touch them.
struct Album: Sendable {
    private let database: Database
    private let photos: DocumentCollection

    init(_ path: String, key: EncryptionKey) throws {
        database = try Database.open(path, options: DatabaseOptions(key: key))
        photos = try database.collection("photos")
    }

    /// Adds a picture and what is known of it; returns its ID.
    ///
    /// The blob comes first, so that a document never refers to what a crash took away.
    @discardableResult
    func add(_ picture: [UInt8], type: String, caption: String, taken: Date) throws -> String {
        let blob = try database.saveBlob(picture, contentType: type)
        let id = taken.ISO8601Format() + "-" + UUID().uuidString.prefix(8)
        return try photos.save(Photo(id: id, caption: caption, taken: taken, picture: blob)).id
    }

    /// All photos in the order in which they were taken.
    func list() throws -> [Photo] { try photos.snapshot().documents().map { try $0.decode(Photo.self) } }

    /// The picture itself, verified.
    func picture(_ photo: Photo) throws -> [UInt8]? { try database.blobReader(photo.picture)?.readAll() }

    /// Gives the album another key: all documents are written anew, and pictures added later have another key.
    func changeKey(to key: EncryptionKey) throws { try database.changeKey(to: key) }

    func close() throws { try database.close() }
}
