#if PEER_RocksDB
    import CRocksDB

    /// Looks up many documents in one call, which spares RocksDB repeated work on the blocks they share.
    @safe final class RocksMultiGet {
        let capacity: Int
        private let ids: UnsafeMutablePointer<CChar>
        private let keys: UnsafeMutablePointer<UnsafePointer<CChar>?>
        private let sizes: UnsafeMutablePointer<Int>
        private let values: UnsafeMutablePointer<OpaquePointer?>
        private let errors: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

        init(capacity: Int) {
            self.capacity = capacity
            unsafe ids = .allocate(capacity: capacity * DocumentID.size)
            unsafe keys = .allocate(capacity: capacity)
            unsafe sizes = .allocate(capacity: capacity)
            unsafe values = .allocate(capacity: capacity)
            unsafe errors = .allocate(capacity: capacity)
            for index in 0..<capacity {
                unsafe keys[index] = unsafe UnsafePointer(ids + index * DocumentID.size)
                unsafe sizes[index] = DocumentID.size
            }
        }

        deinit {
            unsafe ids.deallocate()
            unsafe keys.deallocate()
            unsafe sizes.deallocate()
            unsafe values.deallocate()
            unsafe errors.deallocate()
        }

        /// Copies the ID to be looked up at `index`.
        @inline(__always)
        func setKey(_ index: Int, _ id: UnsafePointer<CChar>) {
            unsafe (ids + index * DocumentID.size).update(from: id, count: DocumentID.size)
        }

        /// Looks up the first `count` keys and passes what is stored under each: its key and its bytes.
        @inline(__always)
        func forEach(
            _ count: Int, in store: RocksStore, _ options: OpaquePointer?,
            _ body: (UnsafePointer<CChar>, UnsafeRawBufferPointer) -> Void
        ) throws {
            unsafe rocksdb_batched_multi_get_cf(
                store.database, options, store.byID, count, keys, sizes, values, errors, false)
            for index in 0..<count {
                guard let found = unsafe values[index] else {
                    throw BenchmarkError("RocksDB: a stored document is missing")
                }
                var size = 0
                let value = unsafe UnsafeRawPointer(rocksdb_pinnableslice_value(found, &size)!)
                unsafe body(keys[index]!, UnsafeRawBufferPointer(start: value, count: size))
                unsafe rocksdb_pinnableslice_destroy(found)
            }
        }
    }
#endif
