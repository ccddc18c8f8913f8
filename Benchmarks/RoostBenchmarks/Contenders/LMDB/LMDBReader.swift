#if PEER_LMDB
    import CLMDB

    /// One read transaction and its cursors, kept and renewed for each call, as the documentation advises.
    @safe final class LMDBReader: ContenderReader {
        private let store: LMDBStore
        private let transaction: OpaquePointer
        private let ids: OpaquePointer
        private let sequences: OpaquePointer

        init(store: LMDBStore) throws {
            self.store = store
            var begun: OpaquePointer?
            var opened: OpaquePointer?
            unsafe try LMDBStore.check(
                mdb_txn_begin(store.environment, nil, UInt32(MDB_RDONLY), &begun), "mdb_txn_begin")
            unsafe transaction = unsafe begun!
            unsafe try LMDBStore.check(mdb_cursor_open(transaction, store.byID, &opened), "mdb_cursor_open")
            unsafe ids = unsafe opened!
            unsafe try LMDBStore.check(
                mdb_cursor_open(transaction, store.bySequence, &opened), "mdb_cursor_open")
            unsafe sequences = unsafe opened!
            unsafe mdb_txn_reset(transaction)
        }

        deinit {
            unsafe mdb_cursor_close(sequences)
            unsafe mdb_cursor_close(ids)
            unsafe mdb_txn_abort(transaction)
        }

        func takeSnapshot() throws {
            unsafe try LMDBStore.check(mdb_txn_renew(transaction), "mdb_txn_renew")
            unsafe mdb_txn_reset(transaction)
        }

        func read(_ key: DocumentKey, into sink: inout Sink) throws {
            unsafe try LMDBStore.check(mdb_txn_renew(transaction), "mdb_txn_renew")
            var number = key.id
            unsafe try withUnsafeMutableBytes(of: &number) { bytes in
                var id = unsafe MDB_val(mv_size: DocumentID.size, mv_data: bytes.baseAddress)
                var data = unsafe MDB_val()
                unsafe try LMDBStore.check(mdb_get(transaction, store.byID, &id, &data), "mdb_get")
                unsafe sink.accept(data.mv_data + 8, data.mv_size - 8)
            }
            unsafe mdb_txn_reset(transaction)
        }

        func scanByID(into sink: inout Sink) throws {
            unsafe try renew(ids)
            var id = unsafe MDB_val()
            var data = unsafe MDB_val()
            while unsafe mdb_cursor_get(ids, &id, &data, MDB_NEXT) == MDB_SUCCESS {
                unsafe sink.accept(id: id.mv_data, data.mv_data + 8, data.mv_size - 8)
            }
            unsafe mdb_txn_reset(transaction)
        }

        func scanBySequence(into sink: inout Sink) throws {
            unsafe try renew(sequences)
            unsafe try LMDBStore.check(mdb_cursor_renew(transaction, ids), "mdb_cursor_renew")
            var key = unsafe MDB_val()
            var id = unsafe MDB_val()
            var data = unsafe MDB_val()
            while unsafe mdb_cursor_get(sequences, &key, &id, MDB_NEXT) == MDB_SUCCESS {
                unsafe try LMDBStore.check(mdb_cursor_get(ids, &id, &data, MDB_SET), "mdb_cursor_get")
                unsafe sink.accept(id: id.mv_data, data.mv_data + 8, data.mv_size - 8)
            }
            unsafe mdb_txn_reset(transaction)
        }

        func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
            unsafe try renew(ids)
            var number = key.id
            unsafe withUnsafeMutableBytes(of: &number) { bytes in
                var id = unsafe MDB_val(mv_size: DocumentID.size, mv_data: bytes.baseAddress)
                var data = unsafe MDB_val()
                var left = count
                var found = unsafe mdb_cursor_get(ids, &id, &data, MDB_SET_RANGE)
                while found == MDB_SUCCESS {
                    unsafe sink.accept(id: id.mv_data, data.mv_data + 8, data.mv_size - 8)
                    left -= 1
                    if left == 0 { break }
                    found = unsafe mdb_cursor_get(ids, &id, &data, MDB_NEXT)
                }
            }
            unsafe mdb_txn_reset(transaction)
        }

        private func renew(_ cursor: OpaquePointer) throws {
            unsafe try LMDBStore.check(mdb_txn_renew(transaction), "mdb_txn_renew")
            unsafe try LMDBStore.check(mdb_cursor_renew(transaction, cursor), "mdb_cursor_renew")
        }
    }
#endif
