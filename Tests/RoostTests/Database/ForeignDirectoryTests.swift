import Foundation
import Roost
import Testing

/// A database that came from elsewhere may hold anything: links, pipes, other people's files. Nothing outside it is read,
/// written or removed through it, and nothing in it that Roost did not make.
@Suite struct ForeignDirectoryTests {
    private let files = TemporaryFiles()
    private var path: String { files.path("db") }
    private let treasure: [UInt8] = Array("letters from 1912\n".utf8)
    private let manager = FileManager.default

    init() throws {
        try manager.createDirectory(
            atPath: files.path("treasure/incoming"), withIntermediateDirectories: true)
        for name in [
            "letters", "2jmj7l5rSw0yVb_vlWAYkK_YBwk=.blob", "incoming/photo", "incoming/" + temporary,
        ] {
            try Data(treasure).write(to: URL(fileURLWithPath: files.path("treasure/" + name)))
        }
    }

    /// A name that Roost gives to files it is writing.
    private let temporary = "0123456789abcdef01234567"

    private func makeDatabase(_ key: EncryptionKey? = nil) throws -> Blob {
        let database = try files.open("db", key)
        let blob = try database.saveBlob(Array(repeating: 7, count: 5000))
        try database.defaultCollection.save(json: #"{"a":1}"#, id: "d")
        try database.close()
        return blob
    }

    private func link(_ name: String, to target: String) throws {
        try? manager.removeItem(atPath: "\(path)/\(name)")
        try manager.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    /// Does everything that can be done with a database, as far as it can be.
    private func useEverything(_ key: EncryptionKey? = nil) {
        if let database = try? files.open("db", key) {
            _ = try? database.saveBlob([1, 2, 3])
            _ = try? database.saveBlob([])
            _ = try? database.verifyBlobs()
            _ = try? database.defaultCollection.save(json: "{}", id: "e")
            _ = try? database.compact()
            _ = try? database.backup(to: files.path("backup"))
            _ = try? database.changeKey(to: .random())
            _ = try? database.compact()
            _ = try? database.changeKey(to: key)
            try? database.close()
        }
        _ = try? Database.check(path, key: key)
        _ = try? Database.salvage(path, to: files.path("salvaged"), key: key)
    }

    private func expectTreasureUntouched(_ comment: Comment) throws {
        let found = try files.all(files.path("treasure"))
        #expect(found.count == 4, comment)
        #expect(found.values.allSatisfy { Array($0) == treasure }, comment)
    }

    private func expectCode(
        _ code: DatabaseError.Code, _ comment: Comment, _ body: () throws -> Void
    ) {
        let error = #expect(throws: DatabaseError.self, comment) { try body() }
        #expect(error?.code == code, "\(comment): \(String(describing: error))")
        #expect(error?.message.contains("symbolic link") == true, "\(comment): \(String(describing: error))")
    }

    @Test(arguments: ["blobs", "blobs/incoming", "data.roost"], [true, false])
    func linksInTheDirectoryAreRefused(name: String, isDangling: Bool) throws {
        _ = try makeDatabase()
        try link(
            name,
            to: isDangling
                ? files.path("none") : files.path(name == "data.roost" ? "treasure/letters" : "treasure"))
        expectCode(.notADatabase, "\(name)") { _ = try files.open("db") }
        expectCode(.notADatabase, "\(name)") {
            _ = try Database.open(path, options: DatabaseOptions(isReadOnly: true))
        }
        useEverything()
        try expectTreasureUntouched("\(name)")
        #expect(!manager.fileExists(atPath: files.path("none")))
    }

    @Test(arguments: [
        "data.roost.lock", "data.roost.new", "data.roost.compact", "data.roost.compact-unsynced",
    ])
    func linksUnderNamesOfOurOwnAreNotFollowed(name: String) throws {
        _ = try makeDatabase()
        for target in ["treasure/letters", "treasure", "none"] {
            try link(name, to: files.path(target))
            useEverything()
            try expectTreasureUntouched("\(name) to \(target)")
            #expect(!manager.fileExists(atPath: files.path("none")))
        }
    }

    @Test func aLinkPutThereWhileItIsOpenIsRefused() throws {
        let blob = try makeDatabase()
        let database = try files.open("db")
        try manager.moveItem(atPath: "\(path)/blobs", toPath: files.path("elsewhere"))
        try link("blobs", to: files.path("treasure"))
        expectCode(.notADatabase, "save") { _ = try database.saveBlob([9]) }
        expectCode(.notADatabase, "read") { _ = try database.blobReader(blob) }
        expectCode(.notADatabase, "list") { _ = try database.blobs() }
        expectCode(.notADatabase, "compact") { try database.compact() }
        try expectTreasureUntouched("blobs")
        try database.close()
    }

    @Test func aLinkAsABlobIsNoBlob() throws {
        let blob = try makeDatabase()
        let name = try #require(
            try manager.contentsOfDirectory(atPath: path + "/blobs").first { $0.hasSuffix(".blob") })
        let content = files.path("content")
        try manager.moveItem(atPath: "\(path)/blobs/\(name)", toPath: content)
        try link("blobs/" + name, to: content)
        let database = try files.open("db")
        let error = #expect(throws: DatabaseError.self) { try database.blobReader(blob) }
        #expect(error?.code == .damaged && error?.message.contains("symbolic link") == true)
        #expect(try database.verifyBlobs().damaged.map(\.file) == [name])
        // The same content again puts a file of its own there.
        _ = try database.saveBlob(Array(repeating: 7, count: 5000))
        #expect(try database.blobReader(blob)?.readAll() == Array(repeating: 7, count: 5000))
        try database.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: content)).count == 5000)
    }

    @Test func pipesAndDirectoriesNeverMakeItWait() throws {
        let blob = try makeDatabase()
        let names = try manager.contentsOfDirectory(atPath: path + "/blobs")
        let name = try #require(names.first { $0.hasSuffix(".blob") })
        for makesPipe in [true, false] {
            try? manager.removeItem(atPath: "\(path)/blobs/\(name)")
            if makesPipe {
                #expect(unsafe mkfifo("\(path)/blobs/\(name)", 0o600) == 0)
            } else {
                try manager.createDirectory(
                    atPath: "\(path)/blobs/\(name)", withIntermediateDirectories: false)
            }
            let database = try files.open("db")
            #expect(throws: DatabaseError.self) { try database.blobReader(blob) }
            #expect(try database.verifyBlobs().damaged.map(\.file) == [name])
            try database.close()
        }
        try manager.removeItem(atPath: "\(path)/data.roost")
        #expect(unsafe mkfifo("\(path)/data.roost", 0o600) == 0)
        let error = #expect(throws: DatabaseError.self) { try files.open("db") }
        #expect(error?.code == .notADatabase)
    }

    @Test func onlyWhatRoostWasWritingIsSwept() throws {
        _ = try makeDatabase()
        let incoming = path + "/blobs/incoming"
        try manager.createDirectory(atPath: incoming + "/album", withIntermediateDirectories: false)
        for name in ["album/photo", "note.txt", temporary] {
            try Data(treasure).write(to: URL(fileURLWithPath: "\(incoming)/\(name)"))
        }
        try manager.createSymbolicLink(
            atPath: incoming + "/abcdefabcdefabcdefabcdef",
            withDestinationPath: files.path("treasure/letters"))
        let database = try files.open("db")
        _ = try database.saveBlob([1])
        try database.compact()
        try database.close()
        #expect(
            try Set(manager.subpathsOfDirectory(atPath: incoming))
                == ["album", "album/photo", "note.txt", "abcdefabcdefabcdefabcdef"])
        try expectTreasureUntouched("swept")
    }

    @Test func aLinkToTheDirectoryItselfIsFollowed() throws {
        let blob = try makeDatabase()
        try manager.createSymbolicLink(atPath: files.path("link"), withDestinationPath: path)
        let first = try files.open("db")
        let second = try files.open("link")
        try second.defaultCollection.save(json: "{}", id: "through the link")
        #expect(try first.defaultCollection.document("through the link") != nil)
        #expect(try second.blobReader(blob) != nil)
        try first.close()
        try second.close()
    }

    @Test func permissionsAreKept() throws {
        let old = umask(0o022)
        defer { umask(old) }
        let blob = try makeDatabase()
        for name in try manager.subpathsOfDirectory(atPath: path) {
            let isDirectory = ["blobs", "blobs/incoming"].contains(name)
            #expect(unsafe chmod("\(path)/\(name)", isDirectory ? 0o700 : 0o600) == 0)
        }
        let database = try files.open("db")
        try database.defaultCollection.save(json: #"{"blob":"\#(blob.digest)"}"#, id: "keeps the blob")
        _ = try database.saveBlob([1, 2, 3])
        try database.changeKey(to: .random())
        try database.compact()
        try database.changeKey(to: nil)
        try database.backup(to: files.path("backup"))
        try database.close()
        for directory in ["db", "backup"] {
            let names = try manager.subpathsOfDirectory(atPath: files.path(directory))
            #expect(names.count >= 4)
            for name in names {
                var status = stat()
                #expect(unsafe stat("\(files.path(directory))/\(name)", &status) == 0)
                // An empty sign gives nothing away.
                if status.st_size == 0 { continue }
                #expect(status.st_mode & 0o077 == 0, "\(directory)/\(name)")
            }
        }
    }
}
