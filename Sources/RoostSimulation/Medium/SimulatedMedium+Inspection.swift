import RoostFile

/// What tests look at and tamper with; nothing here counts as a call or meets a fault.
extension SimulatedMedium {
    /// Which calls fail. May be changed at any time; numbers go on counting.
    package var faults: FaultPlan {
        get { withState { $0.faults } }
        set { withState { $0.faults = newValue } }
    }

    /// The calls made since the disk was created or came out of a crash.
    package var counts: CallCounts {
        withState { $0.counts }
    }

    /// A hash of all calls so far, with the bytes written and the outcomes of crashes: equal for two runs that did
    /// the same. It goes on through crashes.
    package var traceHash: UInt64 {
        withState { $0.trace.value }
    }

    /// Changes of contents, sizes and names that a crash might undo.
    package var unsyncedChanges: Int {
        withState { disk in
            disk.nodes.values.reduce(disk.names.unsynced.count) { $0 + $1.unsynced.count }
        }
    }

    /// What a read of the whole file would show; `nil` where there is no file.
    package func contents(of path: String) -> [UInt8]? {
        withState { disk in
            guard let id = disk.findNode(path), !disk.node(id).isDirectory else { return nil }
            let image = disk.node(id).current
            return unsafe [UInt8](unsafeUninitializedCapacity: Int(image.size)) { buffer, count in
                count = unsafe image.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
        }
    }

    /// Puts a file with these contents at `path`, durable in every respect, in place of any that was there.
    ///
    /// The directory must exist. Open handles keep the old file.
    package func install(_ bytes: [UInt8], at path: String) throws(FileError) {
        try call { disk throws(FileError) in
            guard let entry = try disk.place(path, .create).entry else {
                throw DiskState.error(.other, .create, path)
            }
            var image = FileImage()
            unsafe bytes.withUnsafeBytes { unsafe image.store($0, at: 0) }
            image.extend(to: UInt64(bytes.count))
            if let old = disk.names[entry] { disk.nodes[old]?.links -= 1 }
            var node = FileNode(durable: image)
            node.links = 1
            disk.names.install(disk.add(node), at: entry)
        }
    }

    /// Damages the file at `path`: the byte at `offset` is combined with `mask` by exclusive or, on the medium and
    /// in the cache. Nothing happens where there is no such byte.
    package func flip(_ path: String, at offset: UInt64, mask: UInt8 = 0xFF) {
        withState { disk in
            if let id = disk.findNode(path) { disk.nodes[id]?.flip(at: offset, mask: mask) }
        }
    }

    /// Damages the file at `path`: everything from `size` on is gone, on the medium and in the cache.
    package func cut(_ path: String, to size: UInt64) {
        withState { disk in
            if let id = disk.findNode(path) { disk.nodes[id]?.cut(to: size) }
        }
    }
}
