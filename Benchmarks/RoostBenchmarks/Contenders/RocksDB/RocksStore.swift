#if PEER_RocksDB
    import CRocksDB
    import Glibc
    import Synchronization

    /// RocksDB: a column family by ID holding the sequence and the value, and one by sequence (big-endian)
    /// holding the ID, written together in atomic batches.
    @safe final class RocksStore: CompactingContender {
        /// A database and its column families may be used by any thread.
        nonisolated(unsafe) let database: OpaquePointer
        nonisolated(unsafe) let byID: OpaquePointer
        nonisolated(unsafe) let bySequence: OpaquePointer
        /// The last sequence taken: writers of several threads take theirs without a lock, as RocksDB itself
        /// groups their commits.
        let lastSequence: Atomic<UInt64>
        private let settings: RocksSettings

        init(_ request: OpenRequest) throws {
            settings = RocksSettings(cacheSize: request.cacheSize)
            let families = unsafe try settings.open(request.directory)
            unsafe database = unsafe families.database
            unsafe byID = unsafe families.byID
            unsafe bySequence = unsafe families.bySequence
            lastSequence = unsafe Atomic(Self.lastSequence(families))
        }

        func makeWriter() throws -> any ContenderWriter {
            RocksWriter(store: self)
        }

        func makeReader() throws -> any ContenderReader {
            RocksReader(store: self)
        }

        /// Flushes and waits until no compaction is due.
        func settle() throws {
            let options = unsafe rocksdb_flushoptions_create()
            defer { unsafe rocksdb_flushoptions_destroy(options) }
            unsafe try [byID, bySequence].forEach { family in
                unsafe try Self.check("flush") { unsafe rocksdb_flush_cf(database, options, family, $0) }
            }
            while unsafe [byID, bySequence].contains(where: isBusy) { usleep(10_000) }
        }

        /// A full manual compaction of both column families, down to and including the bottom level.
        func compact() throws {
            let options = unsafe rocksdb_compactoptions_create()
            defer { unsafe rocksdb_compactoptions_destroy(options) }
            unsafe rocksdb_compactoptions_set_bottommost_level_compaction(options, 2)
            unsafe [byID, bySequence].forEach { family in
                unsafe rocksdb_compact_range_cf_opt(database, family, options, nil, 0, nil, 0)
            }
        }

        func close() throws {
            unsafe rocksdb_column_family_handle_destroy(byID)
            unsafe rocksdb_column_family_handle_destroy(bySequence)
            unsafe rocksdb_close(database)
        }

        /// Calls `body` with a place for RocksDB's error message and throws what it left there.
        @inline(__always)
        static func check<Value>(
            _ call: String, _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
        ) throws -> Value {
            var message: UnsafeMutablePointer<CChar>?
            let value = unsafe body(&message)
            if let message = unsafe message {
                defer { unsafe rocksdb_free(message) }
                throw BenchmarkError(unsafe "RocksDB: \(call): \(String(cString: message))")
            }
            return value
        }

        private func isBusy(_ family: OpaquePointer) -> Bool {
            let properties = [
                "rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                "rocksdb.num-running-compactions", "rocksdb.compaction-pending",
            ]
            return properties.contains { property in
                var value: UInt64 = 0
                return unsafe rocksdb_property_int_cf(database, family, property, &value) == 0 && value > 0
            }
        }

        private static func lastSequence(_ families: RocksSettings.Families) -> UInt64 {
            let options = unsafe rocksdb_readoptions_create()
            let iterator = unsafe rocksdb_create_iterator_cf(families.database, options, families.bySequence)
            defer {
                unsafe rocksdb_iter_destroy(iterator)
                unsafe rocksdb_readoptions_destroy(options)
            }
            unsafe rocksdb_iter_seek_to_last(iterator)
            guard unsafe rocksdb_iter_valid(iterator) != 0 else { return 0 }
            var size = 0
            let key = unsafe UnsafeRawPointer(rocksdb_iter_key(iterator, &size)!)
            return unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
        }
    }

    extension RocksStore {
        static let entries = [
            ContenderEntry(
                name: "rocksdb",
                title: "RocksDB \(SharedLibrary.version(of: "librocksdb"))",
                kind: .peer,
                configuration: RocksSettings.summary,
                rows: Row.ofStores,
                open: { try RocksStore($0) })
        ]
    }
#endif
