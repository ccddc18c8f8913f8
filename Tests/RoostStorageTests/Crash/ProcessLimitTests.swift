import ChildProcesses
import Foundation
import RoostStorage
import Testing

#if os(Linux)
    /// A process that was forked, and one that may have no more memory.
    @Suite(.serialized) struct ProcessLimitTests {
        private let directory: TemporaryDirectory
        private let path: String

        init() throws {
            directory = try TemporaryDirectory()
            path = directory.file("store")
        }

        @Test(arguments: ["one", "turns"])
        func aForkedChildChangesNothingByItsParentsHandle(writers: String) throws {
            let child = try ChildProcess(["fork", path, writers])
            let text = child.readToEnd()
            #expect(child.finish() == 0)
            #expect(text == "locked\nlocked\n" + (writers == "one" ? "locked\n" : "") + "closed\n")
            let store = try Store.open(path)
            let tree = try #require(store.snapshot().tree("values"))
            for (key, isThere) in [("before", true), ("child", false), ("after", true)] {
                #expect(try (store.snapshot()[tree, Key(key)] != nil) == isThere, "\(key)")
            }
            #expect(try store.check().isClean)
        }

        /// Dispatch waits without an end for a thread that it can't start.
        @Test func withoutMemoryForAThreadCallsFailAndDoNotHang() throws {
            let child = try ChildProcess(["limit", path])
            let lines = child.readToEnd().split(separator: "\n")
            #expect(child.finish() == 0)
            #expect(lines.count == 4)
            #expect(lines.dropLast().allSatisfy { $0.contains("limit on memory leaves no room") }, "\(lines)")
            #expect(lines.last == "closed")
        }
    }
#endif
