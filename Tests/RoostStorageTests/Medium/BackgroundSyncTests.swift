import Dispatch
import Synchronization
import Testing

@testable import RoostFile
@testable import RoostStorage

/// Syncs beside other work.
@Suite struct BackgroundSyncTests {
    /// A file of which only `sync` is ever called.
    private final class SyncedFile: File {
        let path = "file"
        let allowsWritingBehind: Bool
        private let body: @Sendable () throws(FileError) -> Void

        init(allowsWritingBehind: Bool = true, _ body: @escaping @Sendable () throws(FileError) -> Void) {
            self.allowsWritingBehind = allowsWritingBehind
            self.body = body
        }

        func sync() throws(FileError) { try body() }
        func read(into: UnsafeMutableRawBufferPointer, at: UInt64) throws(FileError) -> Int { 0 }
        func write(_ bytes: UnsafeRawBufferPointer, at: UInt64) throws(FileError) -> Int { bytes.count }
        func size() throws(FileError) -> UInt64 { 0 }
        func truncate(to size: UInt64) throws(FileError) {}
        func identity() throws(FileError) -> FileIdentity { FileIdentity(device: 0, inode: 0) }
    }

    private static let failure = FileError(errno: 5, operation: "sync", path: "file")

    @Test func theSyncGoesOnWhileTheWorkIsDone() throws {
        let (syncBegan, workBegan) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let met = Atomic(0)
        let file = SyncedFile { () throws(FileError) in
            syncBegan.signal()
            if workBegan.wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
        }
        try file.sync {
            workBegan.signal()
            if syncBegan.wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
        }
        #expect(met.load(ordering: .relaxed) == 2)
    }

    /// Whoever gets there first, the file is synced once, and only then is the call over.
    @Test func theFileIsSyncedOnceBeforeTheCallReturns() throws {
        for _ in 0..<200 {
            let count = Atomic(0)
            let file = SyncedFile { () throws(FileError) in count.add(1, ordering: .relaxed) }
            var works = 0
            try file.sync { works += 1 }
            #expect(count.load(ordering: .relaxed) == 1)
            #expect(works == 1)
        }
    }

    @Test(arguments: [true, false])
    func aFailureIsReported(allowsWritingBehind: Bool) {
        let file = SyncedFile(allowsWritingBehind: allowsWritingBehind) { () throws(FileError) in
            throw Self.failure
        }
        for _ in 0..<100 {
            #expect(throws: FileError.self) { try file.sync {} }
        }
    }

    /// Where one seed decides the order of all calls, the sync comes first.
    @Test func withoutASecondThreadTheSyncComesFirst() throws {
        let isSynced = Atomic(false)
        let file = SyncedFile(allowsWritingBehind: false) { () throws(FileError) in
            isSynced.store(true, ordering: .relaxed)
        }
        var wasSynced = false
        try file.sync { wasSynced = isSynced.load(ordering: .relaxed) }
        #expect(wasSynced)
    }
}
