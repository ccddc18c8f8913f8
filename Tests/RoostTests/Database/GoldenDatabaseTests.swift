import Foundation
import Roost
import Testing

/// Databases of every released version of the format, encrypted ones among them, open for ever.
///
/// `make golden` writes those that are missing; none is ever written again. The first two are of the time before leaves
/// were packed.
@Suite(.serialized) struct GoldenDatabaseTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Golden")

    private let place: TemporaryDatabase

    init() throws { place = try TemporaryDatabase() }

    private func options(_ name: String) throws -> DatabaseOptions {
        var options = DatabaseOptions()
        if name.hasSuffix("encrypted") {
            options.key = try EncryptionKey(bytes: [UInt8](repeating: 42, count: 32))
        }
        return options
    }

    @Test(arguments: ["v1-plain", "v1-encrypted", "v1-packed", "v1-packed-encrypted"])
    func databasesOfThePresentVersionAreKept(name: String) throws {
        let file = Self.folder.appendingPathComponent(name + ".roost")
        let isWanted = ProcessInfo.processInfo.environment["ROOST_WRITE_GOLDEN"] != nil
        if isWanted, !FileManager.default.fileExists(atPath: file.path) {
            let database = try Database.open(place.path, options: try options(name))
            let birds = try database.collection("birds")
            for number in 0..<20 {
                _ = try birds.save(json: #"{"n":\#(number),"name":"Apus apus"}"#, id: "b\(number)")
            }
            _ = try birds.delete("b7")
            _ = try birds.saveLocalDocument(json: #"{"seen":20}"#, name: "checkpoint")
            try birds.insert("fork", "2-bb 1-aa", json: #"{"side":"left"}"#)
            try birds.insert("fork", "2-cc 1-aa", json: #"{"side":"right"}"#)
            try database.compact()
            _ = try birds.save(json: #"{"n":100}"#, id: "b0")
            try database.close()
            try Data(contentsOf: URL(fileURLWithPath: place.path + "/data.roost")).write(to: file)
        }
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func everyGoldenDatabaseShowsWhatItHolds() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 4)
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            let path = place.directory + "/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: file, to: URL(fileURLWithPath: path + "/data.roost"))
            let database = try Database.open(path, options: try options(name))
            let birds = try database.collection("birds")
            let snapshot = try birds.snapshot()
            #expect(snapshot.count == 20, "\(name)")
            #expect(try snapshot.deletedCount == 1, "\(name)")
            #expect(try snapshot.document("b0")?.json().contains("100") == true, "\(name)")
            #expect(try snapshot.document("b7") == nil, "\(name)")
            #expect(try birds.leaves("fork") == ["2-cc", "2-bb"], "\(name)")
            #expect(try snapshot.localDocument("checkpoint")?.json() == #"{"seen":20}"#, "\(name)")
            #expect(try birds.save(json: "{}", id: "later").sequence == snapshot.lastSequence + 1, "\(name)")
            try database.close()
        }
    }
}
