import RoostBlobs
import RoostBytes
import RoostFile
import RoostStorage
import Synchronization

/// The blobs of a database and the keys that they are sealed with.
final class BlobVault: Sendable {
    /// The name of the directory, beside the documents' file.
    static let directoryName = "blobs"

    let blobs: BlobStore
    private let store: Store
    private let catalog: Tree
    /// Held while keys change and while blobs are copied, so that a copy has the keys of all its blobs.
    private let maintenance = Mutex(())
    let clock: any WallClock
    /// What was stored lately, earliest first.
    let recent = Mutex<[(time: UInt64, pin: BlobPin)]>([])

    static func path(_ directory: String) -> String {
        directory.last == "/" ? directory + directoryName : "\(directory)/\(directoryName)"
    }

    /// - Parameters:
    ///   - isWritable: Whether what a crash left unfinished may be finished.
    ///   - process: Stands for the opening where processes take turns.
    init(
        _ directory: String, _ store: Store, _ catalog: Tree, environment: Environment, isEncrypted: Bool,
        isWritable: Bool, process: WritingProcess?
    ) throws(DatabaseError) {
        self.store = store
        self.catalog = catalog
        clock = environment.clock
        let access = try translating { () throws(FileError) in
            try environment.medium.status(of: DatabaseOpener.dataPath(directory))?.access
        }
        blobs = BlobStore(
            Self.path(directory), .plain, environment: environment, access: access, isShared: process != nil)
        _ = try translating { () throws(BlobError) in try blobs.exists() }
        if isWritable {
            let isAlone = process?.wasAlone ?? true
            if isAlone { try translating { () throws(BlobError) in try blobs.sweep() } }
            try settle(isEncrypted: isEncrypted, addsKey: false)
        } else {
            setLayouts(try record, isEncrypted: isEncrypted)
        }
    }

    private var record: BlobRecord? {
        get throws(DatabaseError) {
            let bytes = try translating { () throws(StoreError) in
                try store.snapshot()[catalog, Catalog.blobs]
            }
            guard let bytes else { return nil }
            return try BlobRecord(bytes, keys)
        }
    }

    /// What seals the blobs' keys; `nil` where the documents' file is not encrypted.
    private var keys: KeyVault? { (store.transform as? ChunkCipher)?.vault }

    /// Keeps the record, durably whatever the durability is: with its keys all blobs would be lost that are sealed since.
    private func put(_ record: BlobRecord?) throws(DatabaseError) {
        let bytes = try record?.encoded(keys)
        try translating { () throws(StoreError) in
            let transaction = try store.beginWriting()
            if let bytes {
                try transaction.put(Catalog.blobs, bytes, in: catalog)
            } else {
                try transaction.delete(Catalog.blobs, in: catalog)
            }
            _ = try transaction.commit()
            try store.sync()
        }
    }

    // MARK: Keys

    /// Says where blobs may be. In an encrypted database that is sealed files alone, but while plain ones are being
    /// encrypted.
    private func setLayouts(_ record: BlobRecord?, isEncrypted: Bool) {
        let sealed = record.map { [$0.layout] } ?? []
        if isEncrypted {
            blobs.setLayouts(sealed + (record?.state != .sealed ? [.plain] : []), distrustsPlain: true)
        } else {
            blobs.setLayouts([.plain] + sealed)
        }
    }

    /// Runs `change`, which gives the database another key or none, and then lets the blobs follow.
    ///
    /// The database's file comes first: keys of blobs are in it only once it is encrypted.
    func changingKey<R>(
        isEncrypted: Bool, _ change: () throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R {
        try exclusively { () throws(DatabaseError) in
            if !isEncrypted { try uncover() }
            let result: R
            do throws(DatabaseError) {
                result = try change()
            } catch {
                // The next opening does it where this fails.
                if !isEncrypted, keys != nil { try? settle(isEncrypted: true, addsKey: false) }
                throw error
            }
            try settle(isEncrypted: isEncrypted, addsKey: true)
            return result
        }
    }

    /// Takes the keys out of the vault, for a file that will have none.
    private func uncover() throws(DatabaseError) {
        guard var current = try record else { return }
        current.state = .unsealing
        try put(current)
    }

    /// Lets go of all keys. Who reads a blob goes on.
    func close() { blobs.close() }

    /// Runs `body` while no key changes.
    func exclusively<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        let result: Result<R, DatabaseError> = maintenance.withLock { _ in
            do throws(DatabaseError) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Brings the blobs into the form that the database's encryption demands. Blobs that can't be read stay as they
    /// are and are tried again the next time.
    private func settle(isEncrypted: Bool, addsKey: Bool) throws(DatabaseError) {
        guard isEncrypted else { return try settleWithoutKey() }
        var current: BlobRecord
        if let known = try record {
            current = known
            // A decryption was not carried out, or the database has got a key again before it was over.
            let wasDecrypting = current.state == .unsealing
            if wasDecrypting { current.state = .sealing }
            if addsKey { current.addKey() }
            if wasDecrypting || addsKey { try put(current) }
        } else {
            // Where a key was just given, somebody may be writing the first blob now.
            let isThere = try translating { () throws(BlobError) in try blobs.exists() }
            current = BlobRecord(addsKey || isThere ? .sealing : .sealed)
            try put(current)
        }
        setLayouts(current, isEncrypted: true)
        guard current.state == .sealing else { return }
        guard try convert() else { return }
        current.state = .sealed
        try put(current)
        setLayouts(current, isEncrypted: true)
    }

    private func settleWithoutKey() throws(DatabaseError) {
        guard let current = try record else { return }
        setLayouts(current, isEncrypted: false)
        guard try convert() else { return }
        try put(nil)
        setLayouts(nil, isEncrypted: false)
    }

    /// Whether all blobs could be converted.
    private func convert() throws(DatabaseError) -> Bool {
        try translating { () throws(BlobError) in try blobs.convert() }.isEmpty
    }
}

// MARK: - Removal

extension BlobVault {
    /// How long a blob that was just stored waits for a document to name it, in microseconds.
    static let patience: UInt64 = 3600 * 1_000_000

    /// Keeps a blob that was just stored for as long as ``patience``.
    func keepAWhile(_ pin: BlobPin) {
        let now = clock.monotonic()
        recent.withLock { pins in
            pins.append((now, pin))
            Self.forget(&pins, now)
        }
    }

    /// Lets go of what has waited long enough.
    func forgetOld() {
        let now = clock.monotonic()
        recent.withLock { Self.forget(&$0, now) }
    }

    private static func forget(_ pins: inout [(time: UInt64, pin: BlobPin)], _ now: UInt64) {
        let count = pins.prefix { now >= $0.time && now - $0.time >= patience }.count
        if count > 0 { pins.removeFirst(count) }
    }
}

extension DatabaseCore {
    /// Removes the blobs that nothing names: no document as it is now, no snapshot that is open, not the oldest commit
    /// that can be gone back to, nobody who has stored one within the last hour, and no transaction that is being written.
    ///
    /// Where processes take turns none is removed while another one has the database open, or has committed while blobs
    /// were looked for: it may have stored a blob, or read one as of an older commit. Who opens the database waits for
    /// the removal alone, not for the search before.
    ///
    /// - Returns: how many were removed, and the size of their files.
    @discardableResult
    func removeUnreferencedBlobs() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
        if let process {
            guard try process.isAlone else { return (0, 0) }
            // Those who have left may have committed last.
            _ = try refresh()
        }
        let catchUps = store.catchUpCount
        return try vault.exclusively { () throws(DatabaseError) in
            vault.forgetOld()
            let blobs = vault.blobs
            // Pins first, then files, then documents: a document that comes after its mark has had its blobs pinned.
            blobs.beginCollection()
            defer { blobs.endCollection() }
            let unnamed = try unnamedBlobs()
            func remove() throws(DatabaseError) -> (count: Int, bytes: UInt64) {
                try translating { () throws(BlobError) in try blobs.remove(unnamed) }
            }
            guard let process else { return try remove() }
            // Also where there is nothing to remove: it takes away the signs of those who were killed.
            return try process.ifAlone { () throws(DatabaseError) in
                // Who has come meanwhile, and gone, may have named what was there.
                _ = try refresh()
                return store.catchUpCount == catchUps ? try remove() : (0, 0)
            } ?? (0, 0)
        }
    }

    private func unnamedBlobs() throws(DatabaseError) -> [BlobFile] {
        let blobs = vault.blobs
        let files = try translating { () throws(BlobError) in try blobs.files() }
        guard !files.isEmpty else { return [] }
        var marks = BlobMarks()
        for snapshot in try readableSnapshots() { try marks.mark(self, in: snapshot) }
        // What a power failure leaves must not be older than what was marked.
        try translating { () throws(StoreError) in try store.sync() }
        let named = blobs.names(of: marks.digests)
        return files.filter { !named.contains($0.name) }
    }
}

// MARK: - BlobMarks

/// The blobs that anything in a database names.
///
/// Whatever reads like a digest counts, in whichever body and property: rather a blob too many stays than one too few.
struct BlobMarks {
    private(set) var digests: Set<BlobDigest> = []

    /// Marks what the documents of all collections name, those that lost conflicts and local ones among them. Reads
    /// every body; holds one at a time in memory.
    mutating func mark(_ core: DatabaseCore, in snapshot: Snapshot) throws(DatabaseError) {
        for (_, trees) in try core.collections(in: snapshot) {
            try mark(trees.documents, in: snapshot)
            try mark(trees.extras, in: snapshot)
        }
    }

    private mutating func mark(_ tree: Tree, in snapshot: Snapshot) throws(DatabaseError) {
        let cursor = try translating { () throws(StoreError) in try snapshot[tree].cursor() }
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            let value = try translating { () throws(StoreError) in try cursor.valueView() }
            unsafe mark(value.buffer)
        }
        // A digest that was not seen would cost its blob.
        try translating { () throws(StoreError) in try cursor.checkMapping() }
    }

    /// Marks the digests in `bytes`: texts in Fleece and JSON stand there as they are.
    mutating func mark(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index + Self.shortest <= bytes.count {
            guard unsafe bytes[index] == UInt8(ascii: "s"), unsafe bytes[index + 1] == UInt8(ascii: "h"),
                unsafe bytes[index + 2] == UInt8(ascii: "a")
            else {
                index += 1
                continue
            }
            for length in [Self.shortest, Self.longest] where index + length <= bytes.count {
                let text = unsafe bytes[index..<index + length]
                if let digest = unsafe BlobDigest(String(decoding: text, as: UTF8.self)) {
                    digests.insert(digest)
                }
            }
            index += 3
        }
    }

    /// The length of `sha1-` and 20 bytes in base64.
    private static let shortest = 5 + 28
    /// The length of `sha256-` and 32 bytes in base64.
    private static let longest = 7 + 44
}
