import RoostStorage

/// How a database is opened.
public struct DatabaseOptions: Sendable {
    /// Opens without a lock and without ever writing; fails where there is no database. Default: false.
    public var isReadOnly = false
    /// Makes the database if there is none. Default: true.
    public var createsIfMissing = true
    /// How many processes may have the database open for writing. Default: one, from opening to closing; who comes second gets
    /// `locked`.
    ///
    /// With `takingTurns` any number of processes may, each for the time of a ``Database/write(_:)-4124m``, or whatever else writes: it waits
    /// for those of other processes and begins with what they have committed. All that write must say so: who says `one` gets
    /// `locked` while others take turns, and they get `locked` while it has the database. <doc:SharingADatabase> tells what is
    /// different then. Handles within a process share the database as it was opened first.
    public var writers = StoreOptions.Writers.one
    /// When a write counts as done. Default: when it is on the medium.
    public var durability = StoreOptions.Durability.full
    /// Bytes of memory for tree nodes. Default: 128 MiB; 0 keeps none, anything else counts as 512 KiB at least. Memory use
    /// follows what is read, not the file's size. Changes of nodes may take half as much besides before they are written, 64 MiB
    /// at least: the more, the less is written for each change at a random place of a large database, and the more of them are to be
    /// repeated when it is opened after a crash.
    public var cacheSize = 128 << 20
    /// How bodies are read. Default: from a mapping of the file on Linux and macOS, by system calls, half as fast, on iOS
    /// and its kin (see `StoreOptions.ValueAccess`).
    public var valueAccess = StoreOptions.ValueAccess.standard
    /// Compresses bodies and tree nodes with zlib at this level, 1 (fast) to 9; 0, the default, for none.
    public var compression: Int32 = 0
    /// How many bodies of earlier revisions are kept of each branch of a document, newest first, until the database is
    /// compacted; for ``CollectionSnapshot/document(_:revision:)``. Only edits that are made while it is set count. Default: 0,
    /// which costs nothing. Automatic compaction keeps them: they take space until somebody compacts.
    public var keptRevisions = 0

    /// Opens an encrypted database, and encrypts one that is made. `nil`, the default, for one that is not encrypted.
    public var key: EncryptionKey?

    /// The defaults.
    public init() {}

    /// With a key.
    public init(key: EncryptionKey) { self.key = key }

    /// With another choice of what to do where there is no database, or whether to write at all.
    public init(isReadOnly: Bool = false, createsIfMissing: Bool = true) {
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
    }

    var store: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.createsIfMissing = createsIfMissing
        options.writers = writers
        options.durability = durability
        options.cacheSize = cacheSize
        options.valueAccess = valueAccess
        options.compression = compression
        options.transform = key.map { KeyRing($0) }
        return options
    }
}
