import Foundation
import Roost
import Testing

/// Deleting whole databases, and nothing else.
@Suite struct DeletionTests {
    let files: TemporaryDatabase

    init() throws { files = try TemporaryDatabase() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: files.directory)
    }

    @Test func aDatabaseIsDeletedWithAllThatBelongsToIt() throws {
        try files.use { database in
            _ = try database.saveBlob([1, 2, 3])
            try database.defaultCollection.save(json: "{}", id: "a")
        }
        try Database.delete(files.path + "/")
        #expect(try names().isEmpty)
        #expect(code { try Database.delete(files.path) } == .notFound)
        #expect(try files.use { try $0.defaultCollection.count } == 0, "another one can be made there")
    }

    @Test func anOpenDatabaseStays() throws {
        let database = try files.open()
        try database.defaultCollection.save(json: "{}", id: "a")
        #expect(code { try Database.delete(files.path) } == .locked)
        #expect(try database.defaultCollection.count == 1)
        try database.close()
        try Database.delete(URL(fileURLWithPath: files.path))
        #expect(try names().isEmpty)
    }

    @Test func whatIsNoDatabaseStays() throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: files.path, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: files.path + "/letter"))
        #expect(code { try Database.delete(files.path) } == .notADatabase)
        #expect(code { try Database.delete(files.path + "/letter") } == .notADatabase)
        try Data("not Roost's".utf8).write(to: URL(fileURLWithPath: files.path + "/data.roost"))
        #expect(code { try Database.delete(files.path) } == .notADatabase)
        #expect(try manager.contentsOfDirectory(atPath: files.path).sorted() == ["data.roost", "letter"])
    }

    @Test func aDatabaseWithSomethingElseBesideItStays() throws {
        _ = try files.use { try $0.defaultCollection.save(json: "{}", id: "a") }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: files.path + "/letter"))
        #expect(code { try Database.delete(files.path) } == .notADatabase)
        #expect(try files.use { try $0.defaultCollection.count } == 1)
    }

    @Test func aLinkInADatabaseIsNotFollowed() throws {
        _ = try files.use { try $0.defaultCollection.save(json: "{}", id: "a") }
        let other = files.directory + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: other + "/letter"))
        try FileManager.default.createSymbolicLink(
            atPath: files.path + "/blobs", withDestinationPath: other)
        try Database.delete(files.path)
        #expect(try names() == ["other"])
        #expect(FileManager.default.fileExists(atPath: other + "/letter"))
    }
}
