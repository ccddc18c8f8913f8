import RoostBlobs
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
