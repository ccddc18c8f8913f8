import RoostFile

/// Content that a writer has stored for a document that is not saved yet, and that may be refused.
///
/// When the last hold of a blob ends, the blob is removed if it was stored under a hold, no batch that was committed names it, and no
/// pin keeps it. So what was sent with a refused request goes with the request. Where other processes write the store they may
/// have named it, and it is left to a collection.
package final class BlobHold: Sendable {
    private let store: BlobStore
    private let digest: BlobDigest

    fileprivate init(_ store: BlobStore, _ digest: BlobDigest) {
        self.store = store
        self.digest = digest
    }

    deinit { store.endHold(digest) }
}

extension BlobStore.State {
    /// A blob under a hold.
    struct HeldBlob {
        var holds = 0
        /// Whether it was not there before.
        var isNew = false
        /// Whether a batch that was committed names it.
        var isNamed = false
    }
}

extension BlobStore {
    /// Holds a blob that is about to be stored. It is pinned meanwhile.
    func hold(_ digest: BlobDigest) -> BlobHold {
        state.withLock { state in
            state.addPin(digest)
            state.held[digest, default: State.HeldBlob()].holds += 1
        }
        return BlobHold(self, digest)
    }

    /// Notes that a blob under a hold was not there before.
    func noteNew(_ digest: BlobDigest) { state.withLock { $0.held[digest]?.isNew = true } }

    /// Notes that documents name these blobs now. They are still pinned.
    package func name(_ digests: some Sequence<BlobDigest>) {
        state.withLock { state in
            guard !state.held.isEmpty else { return }
            for digest in digests { state.held[digest]?.isNamed = true }
        }
    }

    fileprivate func endHold(_ digest: BlobDigest) {
        state.withLock { state in
            state.removePin(digest)
            guard var blob = state.held[digest] else { return }
            blob.holds -= 1
            guard blob.holds == 0 else {
                state.held[digest] = blob
                return
            }
            state.held[digest] = nil
            guard blob.isNew, !blob.isNamed, state.pins[digest] == nil, !state.isClosed, !isShared else {
                return
            }
            for layout in state.layouts {
                for name in layout.names(of: digest) {
                    // What can't be removed now goes with the next collection.
                    let isThere = (try? medium.status(of: path(name))) != nil
                    if isThere { try? medium.remove(path(name)) }
                    state.arriving.remove(name)
                }
            }
        }
    }
}
