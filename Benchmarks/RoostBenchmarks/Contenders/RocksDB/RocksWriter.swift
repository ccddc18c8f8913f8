#if PEER_RocksDB
    import CRocksDB

    /// One write batch, cleared and filled again for each commit; the old sequences of updated documents are looked
    /// up together.
    @safe final class RocksWriter: ContenderWriter {
        private let store: RocksStore
        private let batch = unsafe rocksdb_writebatch_create()
        private let reading = unsafe rocksdb_readoptions_create()
        private let writing = unsafe rocksdb_writeoptions_create()
        private let lookup = RocksMultiGet(capacity: 128)
        private let sequence = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        private let parts = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: 3)
        private let sizes = UnsafeMutablePointer<Int>.allocate(capacity: 3)

        init(store: RocksStore) {
            self.store = store
            unsafe rocksdb_writeoptions_set_sync(writing, 1)
        }

        deinit {
            unsafe rocksdb_writebatch_destroy(batch)
            unsafe rocksdb_readoptions_destroy(reading)
            unsafe rocksdb_writeoptions_destroy(writing)
            unsafe sequence.deallocate()
            unsafe parts.deallocate()
            unsafe sizes.deallocate()
        }

        func commit(_ documents: Batch, _ kind: CommitKind) throws {
            let first = store.lastSequence.add(UInt64(documents.count), ordering: .relaxed).oldValue + 1
            unsafe rocksdb_writebatch_clear(batch)
            if kind == .update { try removeOldSequences(documents) }
            for index in 0..<documents.count {
                let id = unsafe documents.id(index).assumingMemoryBound(to: CChar.self)
                unsafe sequence.pointee = (first + UInt64(index)).bigEndian
                unsafe put(id, documents.value(index), documents.valueSize)
            }
            unsafe try RocksStore.check("write") { unsafe rocksdb_write(store.database, writing, batch, $0) }
        }

        /// The value is gathered from its two parts, so it is copied once, into the batch.
        @inline(__always)
        private func put(_ id: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ valueSize: Int) {
            let sequenceBytes = unsafe UnsafeRawPointer(sequence).assumingMemoryBound(to: CChar.self)
            unsafe parts[0] = unsafe id
            unsafe sizes[0] = DocumentID.size
            unsafe parts[1] = unsafe sequenceBytes
            unsafe sizes[1] = 8
            unsafe parts[2] = unsafe value.assumingMemoryBound(to: CChar.self)
            unsafe sizes[2] = valueSize
            unsafe rocksdb_writebatch_putv_cf(batch, store.byID, 1, parts, sizes, 2, parts + 1, sizes + 1)
            unsafe rocksdb_writebatch_put_cf(batch, store.bySequence, sequenceBytes, 8, id, DocumentID.size)
        }

        /// The old sequence is the first eight bytes stored by ID.
        private func removeOldSequences(_ documents: Batch) throws {
            var done = 0
            while done < documents.count {
                let count = min(lookup.capacity, documents.count - done)
                for index in 0..<count {
                    unsafe lookup.setKey(
                        index, documents.id(done + index).assumingMemoryBound(to: CChar.self))
                }
                unsafe try lookup.forEach(count, in: store, reading) { _, stored in
                    let old = unsafe stored.baseAddress!.assumingMemoryBound(to: CChar.self)
                    unsafe rocksdb_writebatch_delete_cf(batch, store.bySequence, old, 8)
                }
                done += count
            }
        }
    }
#endif
