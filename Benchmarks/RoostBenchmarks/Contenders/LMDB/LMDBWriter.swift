#if PEER_LMDB
    import CLMDB

    /// One write transaction per commit, with a cursor on each database.
    @safe final class LMDBWriter: ContenderWriter {
        private let store: LMDBStore
        private let sequence = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

        init(store: LMDBStore) throws {
            self.store = store
        }

        deinit {
            unsafe sequence.deallocate()
        }

        func commit(_ batch: Batch, _ kind: CommitKind) throws {
            var transaction: OpaquePointer?
            unsafe try LMDBStore.check(
                mdb_txn_begin(store.environment, nil, 0, &transaction), "mdb_txn_begin")
            let last = store.lastSequence.load(ordering: .relaxed)
            let end = unsafe try put(batch, kind, transaction, after: last)
            store.lastSequence.store(end, ordering: .relaxed)
            unsafe try LMDBStore.check(mdb_txn_commit(transaction), "mdb_txn_commit")
        }

        private func put(
            _ batch: Batch, _ kind: CommitKind, _ transaction: OpaquePointer?, after last: UInt64
        ) throws -> UInt64 {
            var ids: OpaquePointer?
            var sequences: OpaquePointer?
            unsafe try LMDBStore.check(mdb_cursor_open(transaction, store.byID, &ids), "mdb_cursor_open")
            unsafe try LMDBStore.check(
                mdb_cursor_open(transaction, store.bySequence, &sequences), "mdb_cursor_open")
            defer {
                unsafe mdb_cursor_close(sequences)
                unsafe mdb_cursor_close(ids)
            }
            var end = last
            for index in 0..<batch.count {
                end += 1
                var id = unsafe MDB_val(
                    mv_size: DocumentID.size, mv_data: UnsafeMutableRawPointer(mutating: batch.id(index)))
                if kind == .update { unsafe try removeOldSequence(ids, &id, sequences) }
                unsafe try putDocument(ids, &id, batch, index, kind, sequence: end)
                unsafe sequence.pointee = end
                var key = unsafe MDB_val(mv_size: 8, mv_data: sequence)
                unsafe try LMDBStore.check(
                    mdb_cursor_put(sequences, &key, &id, UInt32(MDB_APPEND)), "mdb_cursor_put")
            }
            return end
        }

        /// Leaves the cursor on the document, so that putting it does not search again.
        @inline(__always)
        private func removeOldSequence(
            _ ids: OpaquePointer?, _ id: inout MDB_val, _ sequences: OpaquePointer?
        ) throws {
            var stored = unsafe MDB_val()
            unsafe try LMDBStore.check(mdb_cursor_get(ids, &id, &stored, MDB_SET), "mdb_cursor_get")
            unsafe sequence.pointee = unsafe stored.mv_data.loadUnaligned(as: UInt64.self)
            var key = unsafe MDB_val(mv_size: 8, mv_data: sequence)
            var unused = unsafe MDB_val()
            unsafe try LMDBStore.check(mdb_cursor_get(sequences, &key, &unused, MDB_SET), "mdb_cursor_get")
            unsafe try LMDBStore.check(mdb_cursor_del(sequences, 0), "mdb_cursor_del")
        }

        @inline(__always)
        private func putDocument(
            _ ids: OpaquePointer?, _ id: inout MDB_val, _ batch: Batch, _ index: Int, _ kind: CommitKind,
            sequence: UInt64
        ) throws {
            var space = unsafe MDB_val(mv_size: 8 + batch.valueSize, mv_data: nil)
            let flags: Int32 =
                switch kind {
                case .append: MDB_APPEND
                case .insert: MDB_NOOVERWRITE
                case .update: MDB_CURRENT
                }
            unsafe try LMDBStore.check(
                mdb_cursor_put(ids, &id, &space, UInt32(flags | MDB_RESERVE)), "mdb_cursor_put")
            unsafe space.mv_data.storeBytes(of: sequence, as: UInt64.self)
            unsafe (space.mv_data + 8).copyMemory(from: batch.value(index), byteCount: batch.valueSize)
        }
    }
#endif
