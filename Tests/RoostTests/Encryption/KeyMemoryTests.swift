import Foundation
import RoostCrypto
import RoostStorage
import Testing

@testable import Roost

/// No key is left in the process's memory once nobody needs it: the tests read all of it. Each runs in a process of its own,
/// which holds no other test's gigabytes and no other thread that works with keys.
@Suite(.serialized, .enabled(if: ProcessMemory.isReadable)) struct KeyMemoryTests {
    @Test func theSearchFindsAKeyThatIsThere() async {
        await #expect(processExitsWith: .success) {
            let key = SymmetricKey.random()
            var keys = SoughtKeys()
            keys.add("a key", key)
            let found = try keys.found()
            #expect(found == ["a key, 1 times"], "\(found)")
            withExtendedLifetime(key) {}
        }
    }

    @Test func whatIsDerivedIsNowhereElse() async {
        await #expect(processExitsWith: .success) { try SoughtKeys.derive() }
    }

    @Test func noKeyIsLeftAfterClosingThoughTheHandleLives() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let (database, keys) = try place.work(.random())
                #expect(try keys.found().count >= 5)
                try database.close()
                let found = try keys.found()
                #expect(found == [], "\(found)")
                withExtendedLifetime(database) {}
            }
        }
    }

    @Test func noKeyIsLeftAfterTheLastReferenceHasGone() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let keys = try place.work(.random()).1
                let found = try keys.found()
                #expect(found == [], "\(found)")
            }
        }
    }

    @Test func theOldKeysGoWithAChangeOfTheKey() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let (database, keys) = try place.work(.random())
                let new = EncryptionKey.random()
                try database.changeKey(to: new)
                let left = try keys.found()
                let stays = ["the vault", "the blobs", "the names"]
                let gone = left.filter { name in !stays.contains { name.hasPrefix($0) } }
                #expect(gone == [], "\(gone)")
                try database.close()
                let found = try keys.found()
                #expect(found == [], "\(found)")
                withExtendedLifetime(database) {}
            }
        }
    }

    @Test func aSnapshotKeepsTheKeyAndNobodyElse() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let (database, keys) = try place.work(.random())
                var snapshot: CollectionSnapshot? = try database.defaultCollection.snapshot()
                try database.close()
                #expect(try snapshot?.document("d3")?["n"].int == 3)
                #expect(try !keys.found().isEmpty)
                snapshot = nil
                let found = try keys.found()
                #expect(found == [], "\(found)")
                withExtendedLifetime(database) {}
            }
        }
    }

    @Test func aReaderForgetsToo() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let key = EncryptionKey.random()
                let keys = try place.work(key).1
                var options = DatabaseOptions(key: key)
                options.isReadOnly = true
                let reader = try Database.open(place.path, options: options)
                _ = try reader.defaultCollection.document("d3")
                try reader.close()
                let left = try keys.found()
                #expect(left == ["the user's key, 1 times"], "\(left)")
                withExtendedLifetime((key, reader)) {}
            }
        }
    }

    /// What was asked of threads that never come keeps no key.
    @Test func noKeyIsLeftWithAPoolThatIsBusy() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let end = DispatchSemaphore(value: 0)
                // More than the pool has threads.
                for _ in 0..<1_000 { DispatchQueue.global().async { end.wait() } }
                let (database, keys) = try place.work(.random())
                try database.write { batch in
                    for number in 0..<400 {
                        let text = String(repeating: "\(number) ", count: 10_000)
                        try batch.save(
                            json: #"{"text":"\#(text)"}"#, id: "long\(number)", in: database.defaultCollection
                        )
                    }
                }
                try database.close()
                let found = try keys.found()
                #expect(found == [], "\(found)")
                withExtendedLifetime(database) {}
                exit(EXIT_SUCCESS)
            }
        }
    }

    @Test func aPassphraseAndWhatItMakesAreForgotten() async {
        await #expect(processExitsWith: .success) {
            try DatabaseWithKeys.run { place in
                let passphrase = SymmetricKey.random()
                let (database, keys) = try place.work(
                    .passphrase(bytes: unsafe passphrase.withUnsafeBytes { unsafe Array($0) }))
                try database.close()
                let found = try keys.found().filter { !$0.hasPrefix("the user's key") }
                #expect(found == [], "\(found)")
                withExtendedLifetime((passphrase, database)) {}
            }
        }
    }
}

/// Keys by name, masked, so that the tests themselves don't hold them.
private struct SoughtKeys {
    private var masked: [(name: String, bytes: [UInt8])] = []

    mutating func add(_ name: String, _ key: SymmetricKey) {
        masked.append((name, unsafe key.withUnsafeBytes { unsafe $0.map { $0 ^ ProcessMemory.mask } }))
    }

    /// The names of those that are found, with how often.
    func found() throws -> [String] {
        let counts = try ProcessMemory.counts(masked: masked.map { $0.bytes })
        return zip(masked, counts).compactMap { key, count in
            count > 0 ? "\(key.name), \(count) times" : nil
        }
    }

    /// Derives keys in every way, and looks for them: each is in memory once, where it belongs.
    static func derive() throws {
        let secret = SymmetricKey.random()
        let salt = SystemRandom.bytes(count: 16)
        let extracted = HKDF.extract(from: secret, salt: salt)
        let info = Array("a test's".utf8)
        var derived = [
            ("the secret", secret), ("extracted", extracted),
            ("expanded", HKDF.expand(extracted, info: info, byteCount: 32)),
            ("derived", HKDF.deriveKey(from: secret, salt: [], info: info)),
        ]
        for (number, path) in [ExecutionPath.hardware, .portable].enumerated() {
            let key = PBKDF2.deriveKeyWithSHA256(
                password: secret, salt: salt + [UInt8(number)], rounds: 3, path: path)
            derived.append(("PBKDF2 with SHA-256, \(path)", key))
        }
        var keys = SoughtKeys()
        for (name, key) in derived { keys.add(name, key) }
        let found = try keys.found()
        #expect(found == derived.map { "\($0.0), 1 times" }, "\(found)")
        withExtendedLifetime(derived) {}
    }
}

/// An encrypted database and what its keys are.
private struct DatabaseWithKeys {
    private let place: TemporaryDatabase
    var path: String { place.path }

    /// Calls `body` outside of a task's functions, where calls are those that wait.
    static func run(_ body: (DatabaseWithKeys) throws -> Void) throws {
        try body(DatabaseWithKeys(place: TemporaryDatabase()))
    }

    /// The keys that a database with this key uses.
    private func keys(_ database: Database, _ key: EncryptionKey) throws -> SoughtKeys {
        var keys = SoughtKeys()
        keys.add("the user's key", key.secret)
        let header = try Data(contentsOf: URL(fileURLWithPath: path + "/data.roost")).prefix(4096)
        let wrap = try #require(KeyWrap(Array(header[104..<104 + KeyWrap.length])))
        var secret = key.secret
        if key.kind == .passphrase {
            secret = PBKDF2.deriveKeyWithSHA256(
                password: key.secret, salt: wrap.salt, rounds: Int(wrap.rounds))
            keys.add("what the passphrase makes", secret)
        }
        let wrapping = HKDF.deriveKey(
            from: secret, salt: wrap.salt, info: Array("Roost key wrap".utf8))
        keys.add("the wrapping key", wrapping)
        let file = try #require(wrap.unwrap(with: wrapping, fileID: Array(header[56..<72])))
        keys.add("the file's key", file.file)
        keys.add("the vault's key", file.vault)
        for name in ["Roost chunks", "Roost commit records"] {
            keys.add(name, HKDF.expand(file.file, info: Array(name.utf8), byteCount: 32))
        }
        let store = database.core.store
        let bytes = try #require(try store.snapshot()[database.core.catalog, Catalog.blobs])
        for (number, key) in try BlobRecord(bytes, KeyVault(file.vault)).keys.enumerated() {
            keys.add("the blobs' key \(number)", key)
            keys.add(
                "the names' key \(number)",
                HKDF.deriveKey(from: key, salt: [], info: Array("Roost blob names".utf8)))
        }
        return keys
    }

    /// Opens the database, works with it, and says what its keys are.
    func work(_ key: EncryptionKey) throws -> (Database, SoughtKeys) {
        let database = try Database.open(path, options: DatabaseOptions(key: key))
        for number in 0..<20 {
            _ = try database.saveBlob(
                Data(repeating: UInt8(number), count: 10_000), contentType: "text/plain")
            _ = try database.defaultCollection.save(json: #"{"n":\#(number)}"#, id: "d\(number)")
        }
        _ = try database.auxiliaryStores.store("derived")?.tree("words")
        try database.compact()
        _ = try database.defaultCollection.save(json: #"{"n":-1}"#, id: "d1")
        return (database, try keys(database, key))
    }
}

/// Looks through all memory that this process can write, as `/proc/self/mem` shows it.
private enum ProcessMemory {
    /// Whether the system shows it, as Linux does.
    static var isReadable: Bool { FileManager.default.isReadableFile(atPath: "/proc/self/pagemap") }

    /// What keys are masked with that tests keep.
    static let mask: UInt8 = 0xA7
    private static let pieceLength = 1 << 20
    private static let pageLength: UInt = 4096

    /// How often each key, all of one length, stands in memory, apart from where this looks for it.
    static func counts(masked: [[UInt8]]) throws -> [Int] {
        let length = masked.first?.count ?? 0
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: pieceLength + length - 1, alignment: 64)
        let needles = UnsafeMutableRawBufferPointer.allocate(
            byteCount: masked.count * length, alignment: 64)
        defer {
            unsafe wipe(needles)
            unsafe needles.deallocate()
            unsafe piece.deallocate()
        }
        for (index, byte) in masked.joined().enumerated() { unsafe needles[index] = byte ^ mask }
        let own = unsafe [piece, needles].map { bytes in
            let start = UInt(bitPattern: bytes.baseAddress)
            return start..<start + UInt(bytes.count)
        }
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
        let pages = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/pagemap"))
        var counts = [Int](repeating: 0, count: masked.count)
        for start in try pieces() where try isPresent(start, pages.fileDescriptor) {
            let count = unsafe pread(memory.fileDescriptor, piece.baseAddress, piece.count, off_t(start))
            let read = unsafe UnsafeRawBufferPointer(rebasing: piece[..<max(count, 0)])
            for key in masked.indices {
                let needle = unsafe UnsafeRawBufferPointer(
                    rebasing: needles[key * length..<(key + 1) * length])
                for place in unsafe places(of: needle, in: read)
                where !own.contains(where: { $0.contains(start + UInt(place)) }) {
                    counts[key] += 1
                }
            }
            unsafe wipe(piece)
        }
        return counts
    }

    private typealias Search =
        @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeMutableRawPointer?

    /// The C library's search for bytes in bytes, which Swift's import of it leaves out.
    private static let memmem = unsafe unsafeBitCast(dlsym(nil, "memmem"), to: Search.self)

    private static func places(of needle: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer)
        -> [Int]
    {
        var places: [Int] = []
        var start = 0
        while start < bytes.count,
            let hit = unsafe memmem(
                bytes.baseAddress! + start, bytes.count - start, needle.baseAddress!, needle.count)
        {
            places.append(unsafe UnsafeRawPointer(hit) - bytes.baseAddress!)
            start = places[places.count - 1] + 1
        }
        return places
    }

    /// Where the pieces of all writable memory begin.
    private static func pieces() throws -> [UInt] {
        try text(of: "/proc/self/maps").split(separator: "\n").flatMap { line -> [UInt] in
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), bounds.count == 2 else { return [] }
            return Array(stride(from: bounds[0], to: bounds[1], by: pieceLength))
        }
    }

    /// The text of a file whose length the system does not know before it is read, and gives in pieces.
    private static func text(of path: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let length = unsafe piece.withUnsafeMutableBytes {
                unsafe read(file.fileDescriptor, $0.baseAddress, $0.count)
            }
            guard length > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<length]
        }
    }

    /// Whether the system holds any page of the piece; the others were never written.
    private static func isPresent(_ start: UInt, _ pages: Int32) throws -> Bool {
        var entries = [UInt64](repeating: 0, count: pieceLength / Int(pageLength))
        let length = unsafe entries.withUnsafeMutableBytes {
            unsafe pread(pages, $0.baseAddress, $0.count, off_t(start / pageLength * 8))
        }
        // In memory, or swapped out.
        return length > 0 && entries.contains { $0 >> 62 != 0 }
    }
}
