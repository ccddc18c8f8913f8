import Foundation
import Roost
import RoostStorage
import Testing

/// An encrypted database opens with its key only, gives nothing away, and changes its key without loss.
@Suite struct EncryptionTests {
    private let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
    private let secrets = ["swift-secret-id", "secretProperty", "nests under the eaves", "hidden-collection"]

    private func open(_ key: EncryptionKey?) throws -> Database {
        var options = DatabaseOptions()
        options.key = key
        return try Database.open(path, options: options)
    }

    private func fill(_ database: Database) throws {
        let collection = try database.collection("hidden-collection")
        for number in 0..<300 {
            try database.write { batch in
                try batch.save(
                    json: #"{"secretProperty":"nests under the eaves","n":\#(number)}"#,
                    id: "swift-secret-id-\(number)",
                    in: collection)
            }
        }
    }

    private func verify(_ database: Database) throws {
        let collection = try database.collection("hidden-collection", createsIfMissing: false)
        #expect(try collection.count == 300)
        #expect(try collection.document("swift-secret-id-7")?["n"].int == 7)
        #expect(try database.check().isClean)
    }

    /// Whether any file of the database holds one of the secrets in the clear.
    private func showsSecrets() throws -> Bool {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
            if secrets.contains(where: { bytes.range(of: Data($0.utf8)) != nil }) { return true }
            if secrets.contains(where: { name.contains($0) }) { return true }
        }
        return false
    }

    private func expectWrongKey(_ key: EncryptionKey?) {
        #expect { try open(key) } throws: { ($0 as? DatabaseError)?.code == .wrongKey }
    }

    @Test func onlyTheKeyOpensIt() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = EncryptionKey.random()
        let database = try open(key)
        try fill(database)
        expectWrongKey(nil)
        expectWrongKey(.random())
        try database.close()
        expectWrongKey(nil)
        expectWrongKey(.random())
        expectWrongKey(.passphrase("guess"))
        let again = try open(key)
        try verify(again)
        try again.close()
        #expect(try !showsSecrets())
    }

    @Test func nothingIsVisibleWhileItIsWrittenAndCompacted() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try open(.random())
        try fill(database)
        #expect(try !showsSecrets())
        var looks = 0
        try database.compact { _ in
            looks += 1
            return (try? showsSecrets()) == false
        }
        #expect(looks > 0)
        let copy = path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try database.backup(to: copy)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy + "/data.roost"))
        #expect(!secrets.contains { bytes.range(of: Data($0.utf8)) != nil })
        try verify(database)
        try database.close()
    }

    @Test func theKeyChangesWithoutLoss() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (first, second) = (EncryptionKey.passphrase("correct horse"), EncryptionKey.random())
        var database = try open(nil)
        try fill(database)
        #expect(try showsSecrets())
        for (old, new) in [(nil, first), (first, second), (second, nil)] as [(EncryptionKey?, EncryptionKey?)]
        {
            try database.changeKey(to: new)
            try database.collection("others").save(json: "{}", id: "after")
            try database.close()
            #expect(try showsSecrets() == (new == nil))
            expectWrongKey(old)
            database = try open(new)
            try verify(database)
        }
        try database.close()
    }

    @Test func aPassphraseIsItsBytes() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let latin = EncryptionKey.passphrase(bytes: [0x63, 0xe9])
        try open(latin).close()
        // Both are malformed as UTF-8, and would be the same text with a replacement character.
        expectWrongKey(.passphrase(bytes: [0x63, 0xe8]))
        expectWrongKey(.passphrase("c\u{fffd}"))
        try open(latin).close()
        #expect(EncryptionKey.passphrase(bytes: Array("gable".utf8)).isSame(as: .passphrase("gable")))
    }

    @Test func everyFlippedByteIsCaught() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = EncryptionKey.random()
        let database = try open(key)
        try database.write { batch in
            for number in 0..<5 {
                try batch.save(
                    json: #"{"n":\#(number)}"#, id: "d\(number)", in: try database.defaultCollection)
            }
        }
        try database.close()
        let file = URL(fileURLWithPath: path + "/data.roost")
        let good = try Data(contentsOf: file)
        for offset in stride(from: 0, to: good.count, by: 61) {
            var bad = good
            bad[offset] ^= 0x10
            try bad.write(to: file)
            do {
                let opened = try open(key)
                for number in 0..<5 {
                    let value = try opened.defaultCollection.document("d\(number)")?["n"].int
                    #expect(value == number, "byte \(offset)")
                }
                try? opened.close()
            } catch let error as DatabaseError {
                #expect(
                    [.damaged, .wrongKey, .notADatabase, .unsupportedFormat].contains(error.code),
                    "byte \(offset)")
            }
        }
    }

    @Test func keysAreCheckedAndNotShown() {
        #expect(throws: DatabaseError.self) { try EncryptionKey(bytes: [1, 2, 3]) }
        #expect("\(EncryptionKey.passphrase("hush"))" == "a passphrase")
    }
}
