#if PEER_LMDB
    import CLMDB
    import Glibc
    import Synchronization

    /// LMDB: a database by ID holding the sequence and the value, and one by sequence (native 64-bit integer
    /// keys, which it recommends) holding the ID.
    @safe final class LMDBStore: Contender {
        /// Virtual only; the documentation asks for as large as the data may ever become.
        private static let mapSize = 64 << 30

        /// An environment may be used by any thread.
        nonisolated(unsafe) let environment: OpaquePointer
        let byID: MDB_dbi
        let bySequence: MDB_dbi
        private let directory: String
        /// The last sequence taken; read and written inside write transactions only, which LMDB admits one at a
        /// time.
        let lastSequence: Atomic<UInt64>

        init(_ request: OpenRequest) throws {
            directory = request.directory
            var created: OpaquePointer?
            unsafe try LMDBStore.check(mdb_env_create(&created), "mdb_env_create")
            let environment = unsafe created!
            unsafe try LMDBStore.check(mdb_env_set_mapsize(environment, Self.mapSize), "mdb_env_set_mapsize")
            unsafe try LMDBStore.check(mdb_env_set_maxdbs(environment, 2), "mdb_env_set_maxdbs")
            unsafe try LMDBStore.check(mdb_env_open(environment, directory, 0, 0o644), "mdb_env_open")
            unsafe self.environment = unsafe environment
            let opened = unsafe try Self.openDatabases(environment)
            byID = opened.byID
            bySequence = opened.bySequence
            lastSequence = Atomic(opened.lastSequence)
        }

        func makeWriter() throws -> any ContenderWriter {
            try LMDBWriter(store: self)
        }

        func makeReader() throws -> any ContenderReader {
            try LMDBReader(store: self)
        }

        func settle() throws {}

        /// A compacting copy that takes the place of the data file: LMDB has no other way to shrink one.
        func compactAndClose() throws {
            let copy = directory + "/copy.mdb"
            let descriptor = unsafe open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            guard descriptor >= 0 else { throw BenchmarkError("LMDB: cannot create the copy") }
            unsafe try LMDBStore.check(
                mdb_env_copyfd2(environment, descriptor, UInt32(MDB_CP_COMPACT)), "mdb_env_copyfd2")
            guard fdatasync(descriptor) == 0, Glibc.close(descriptor) == 0 else {
                throw BenchmarkError("LMDB: cannot sync the copy")
            }
            try close()
            guard unsafe rename(copy, directory + "/data.mdb") == 0 else {
                throw BenchmarkError("LMDB: cannot rename the copy")
            }
            try RawStore.syncDirectory(directory)
        }

        func close() throws {
            unsafe mdb_env_close(environment)
        }

        static func check(_ code: Int32, _ call: String) throws {
            guard code == MDB_SUCCESS else {
                throw BenchmarkError(unsafe "LMDB: \(call): \(String(cString: mdb_strerror(code)))")
            }
        }

        /// Opens both databases and finds the last sequence.
        private static func openDatabases(
            _ environment: OpaquePointer
        ) throws -> (byID: MDB_dbi, bySequence: MDB_dbi, lastSequence: UInt64) {
            var transaction: OpaquePointer?
            unsafe try check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
            var byID: MDB_dbi = 0
            var bySequence: MDB_dbi = 0
            unsafe try check(mdb_dbi_open(transaction, "id", UInt32(MDB_CREATE), &byID), "mdb_dbi_open")
            let flags = UInt32(MDB_CREATE | MDB_INTEGERKEY)
            unsafe try check(mdb_dbi_open(transaction, "sequence", flags, &bySequence), "mdb_dbi_open")
            var cursor: OpaquePointer?
            unsafe try check(mdb_cursor_open(transaction, bySequence, &cursor), "mdb_cursor_open")
            var key = unsafe MDB_val()
            var data = unsafe MDB_val()
            let found = unsafe mdb_cursor_get(cursor, &key, &data, MDB_LAST) == MDB_SUCCESS
            let last = unsafe found ? key.mv_data.load(as: UInt64.self) : 0
            unsafe mdb_cursor_close(cursor)
            unsafe try check(mdb_txn_commit(transaction), "mdb_txn_commit")
            return (byID, bySequence, last)
        }
    }

    extension LMDBStore {
        static let entries = [
            ContenderEntry(
                name: "lmdb",
                title: "LMDB \(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)",
                kind: .peer,
                configuration: """
                    default flags (durable, read-only map); MDB_APPEND where keys ascend, MDB_RESERVE so that \
                    values are copied once, MDB_INTEGERKEY by sequence, one renewed read transaction per read; \
                    compaction by mdb_env_copy with MDB_CP_COMPACT
                    """,
                rows: Row.ofStores.subtracting([.compactionBesideWriter]),
                open: { try LMDBStore($0) })
        ]
    }
#endif
