#if PEER_RocksDB
    import CRocksDB

    /// Pinned reads; scans with an iterator that leaves the block cache alone, and batched lookups for the scan by
    /// sequence, as the documentation advises for each.
    @safe final class RocksReader: ContenderReader {
        private let store: RocksStore
        private let reading = unsafe rocksdb_readoptions_create()
        private let scanning = unsafe rocksdb_readoptions_create()
        private let lookup = RocksMultiGet(capacity: 64)

        init(store: RocksStore) {
            self.store = store
            unsafe rocksdb_readoptions_set_fill_cache(scanning, 0)
        }

        deinit {
            unsafe rocksdb_readoptions_destroy(reading)
            unsafe rocksdb_readoptions_destroy(scanning)
        }

        func takeSnapshot() throws {
            unsafe rocksdb_release_snapshot(store.database, rocksdb_create_snapshot(store.database))
        }

        func read(_ key: DocumentKey, into sink: inout Sink) throws {
            unsafe try withUnsafeBytes(of: key.id) { id in
                let key = unsafe id.baseAddress!.assumingMemoryBound(to: CChar.self)
                let found = unsafe try RocksStore.check("get") {
                    unsafe rocksdb_get_pinned_cf(store.database, reading, store.byID, key, id.count, $0)
                }
                guard let found = unsafe found else {
                    throw BenchmarkError("RocksDB: a stored document is missing")
                }
                var size = 0
                let value = unsafe UnsafeRawPointer(rocksdb_pinnableslice_value(found, &size)!)
                unsafe sink.accept(value + 8, size - 8)
                unsafe rocksdb_pinnableslice_destroy(found)
            }
        }

        func scanByID(into sink: inout Sink) throws {
            let iterator = unsafe rocksdb_create_iterator_cf(store.database, scanning, store.byID)
            unsafe rocksdb_iter_seek_to_first(iterator)
            unsafe try deliver(iterator, count: .max, into: &sink)
        }

        func scanBySequence(into sink: inout Sink) throws {
            let iterator = unsafe rocksdb_create_iterator_cf(store.database, scanning, store.bySequence)
            unsafe rocksdb_iter_seek_to_first(iterator)
            while unsafe rocksdb_iter_valid(iterator) != 0 {
                var size = 0
                var count = 0
                while count < lookup.capacity, unsafe rocksdb_iter_valid(iterator) != 0 {
                    unsafe lookup.setKey(count, rocksdb_iter_value(iterator, &size)!)
                    unsafe rocksdb_iter_next(iterator)
                    count += 1
                }
                unsafe try lookup.forEach(count, in: store, reading) { id, stored in
                    unsafe sink.accept(id: id, stored.baseAddress! + 8, stored.count - 8)
                }
            }
            unsafe try finish(iterator)
        }

        func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
            let iterator = unsafe rocksdb_create_iterator_cf(store.database, reading, store.byID)
            unsafe withUnsafeBytes(of: key.id) { id in
                unsafe rocksdb_iter_seek(
                    iterator, id.baseAddress!.assumingMemoryBound(to: CChar.self), id.count)
            }
            unsafe try deliver(iterator, count: count, into: &sink)
        }

        /// Delivers up to `count` documents and destroys the iterator.
        @inline(__always)
        private func deliver(_ iterator: OpaquePointer?, count: Int, into sink: inout Sink) throws {
            var left = count
            while left > 0, unsafe rocksdb_iter_valid(iterator) != 0 {
                var size = 0
                let id = unsafe rocksdb_iter_key(iterator, &size)!
                let value = unsafe UnsafeRawPointer(rocksdb_iter_value(iterator, &size)!)
                unsafe sink.accept(id: id, value + 8, size - 8)
                unsafe rocksdb_iter_next(iterator)
                left -= 1
            }
            unsafe try finish(iterator)
        }

        private func finish(_ iterator: OpaquePointer?) throws {
            unsafe try RocksStore.check("iterate") { unsafe rocksdb_iter_get_error(iterator, $0) }
            unsafe rocksdb_iter_destroy(iterator)
        }
    }
#endif
