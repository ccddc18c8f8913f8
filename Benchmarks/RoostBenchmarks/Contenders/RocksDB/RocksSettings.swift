#if PEER_RocksDB
    import CRocksDB
    import Glibc

    /// The settings that RocksDB's own guide to basic tuning recommends, with a block cache that holds the usual
    /// million documents (the guide gives it a third of the memory) and with compression off, since the
    /// documents cannot be compressed.
    struct RocksSettings {
        /// A database with its column families.
        @unsafe struct Families {
            let database: OpaquePointer
            let byID: OpaquePointer
            let bySequence: OpaquePointer
        }

        static let summary = """
            the guide's recommended options (dynamic level sizes, 16 KB blocks, 10-bit Bloom filters, index and \
            filter blocks in the cache, two background jobs), 512 MB block cache, no compression, write batches \
            with sync; pinned reads, batched MultiGet for the scan by sequence and for the sequences that an update \
            replaces; compaction by a full CompactRange
            """

        /// What the block cache holds, in bytes.
        private let cacheSize: Int

        init(cacheSize: Int?) { self.cacheSize = cacheSize ?? 512 << 20 }

        func open(_ directory: String) throws -> Families {
            let options = unsafe options()
            defer { unsafe rocksdb_options_destroy(options) }
            let names = ["default", "sequence"]
            var handles: [OpaquePointer?] = unsafe [nil, nil]
            let pointers = unsafe names.map { unsafe UnsafePointer(strdup($0)) }
            defer { unsafe pointers.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
            let database = unsafe try RocksStore.check("open") { message in
                unsafe rocksdb_open_column_families(
                    options, directory, 2, pointers, [options, options], &handles, message)
            }
            return unsafe Families(database: database!, byID: handles[0]!, bySequence: handles[1]!)
        }

        private func options() -> OpaquePointer? {
            let options = unsafe rocksdb_options_create()
            unsafe rocksdb_options_set_create_if_missing(options, 1)
            unsafe rocksdb_options_set_create_missing_column_families(options, 1)
            unsafe rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
            unsafe rocksdb_options_set_max_background_jobs(options, 2)
            unsafe rocksdb_options_set_bytes_per_sync(options, 1 << 20)
            unsafe rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
            let table = unsafe rocksdb_block_based_options_create()
            let cache = unsafe rocksdb_cache_create_lru(cacheSize)
            unsafe rocksdb_block_based_options_set_block_size(table, 16 << 10)
            unsafe rocksdb_block_based_options_set_block_cache(table, cache)
            unsafe rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1)
            unsafe rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1)
            unsafe rocksdb_block_based_options_set_filter_policy(
                table, rocksdb_filterpolicy_create_bloom_full(10))
            unsafe rocksdb_block_based_options_set_format_version(table, 5)
            unsafe rocksdb_options_set_block_based_table_factory(options, table)
            unsafe rocksdb_block_based_options_destroy(table)
            unsafe rocksdb_cache_destroy(cache)
            return unsafe options
        }
    }
#endif
