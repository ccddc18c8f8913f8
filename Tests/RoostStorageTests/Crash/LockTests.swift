import ChildProcesses
import Foundation
import RoostFile
import Testing

@testable import RoostStorage

/// One process writes a file at a time, whatever name each of them gave, and also while compactions put another file
/// under the name.
@Suite(.serialized) struct LockTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
    }

    private func expectLocked(_ path: String, _ comment: Comment) {
        let error = #expect(throws: StoreError.self, comment) { _ = try Store.open(path) }
        #expect(error?.code == .locked, comment)
    }

    @Test func anotherProcessIsKeptOutUnderEveryName() throws {
        let hardLink = directory.file("hard link")
        try Store.open(path).close()
        try FileManager.default.linkItem(atPath: path, toPath: hardLink)
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + ".link", withDestinationPath: directory.path)
        defer { try? FileManager.default.removeItem(atPath: directory.path + ".link") }
        let child = try ChildProcess(["hold", path])
        #expect(child.read().hasPrefix("open"))
        for name in [path, hardLink, directory.path + ".link/store", directory.path + "/./store"] {
            expectLocked(name, "\(name)")
        }
        #if os(Linux)
            let error = #expect(throws: StoreError.self) { _ = try Store.open(path) }
            #expect(error?.message.contains("process \(child.identifier) (CommitWriter)") == true)
        #endif
        #expect(child.finish() == 0)
        try Store.open(hardLink).close()
        try Store.open(path).close()
    }

    @Test func nobodyGetsInWhileCompactionsSwapFiles() throws {
        let child = try ChildProcess(["compact", path, "11"])
        _ = child.read()
        var identity = try PosixMedium().status(of: path)?.identity
        var (attempts, swaps) = (0, 0)
        while swaps < 11 || attempts < 300 {
            attempts += 1
            expectLocked(path, "attempt \(attempts)")
            let now = try PosixMedium().status(of: path)?.identity
            // An old file's number may be given to a later one.
            if now != identity { swaps += 1 }
            identity = now
            try #require(attempts < 100_000)
        }
        child.kill()
        _ = child.readToEnd()
        let store = try Store.open(path)
        #expect(try store.check().isClean)
    }

    @Test func theLockOfAnOldFileIsNotThatOfTheNewOne() throws {
        let store = try Store.open(path)
        let hardLink = directory.file("hard link")
        try FileManager.default.linkItem(atPath: path, toPath: hardLink)
        let tree = try store.tree("tree")
        try store.compact()
        // From here on the other name leads to another file, which goes its own way.
        let other = try Store.open(hardLink)
        try other.write { try $0.put(Key("k"), [1], in: tree) }
        try store.write { try $0.put(Key("k"), [2], in: tree) }
        expectLocked(path, "new file")
        expectLocked(hardLink, "old file")
        #expect(try store.snapshot()[tree, Key("k")] == [2])
        #expect(try other.snapshot()[tree, Key("k")] == [1])
        for each in [store, other] {
            #expect(try each.check().isClean)
            try each.close()
        }
    }

    @Test func onlyOneOfManyMakesAStore() async throws {
        let path = path
        let opened = await withTaskGroup(of: Result<Store, any Error>.self) { group in
            for _ in 0..<8 { group.addTask { Result { try Store.open(path) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let stores = opened.compactMap { try? $0.get() }
        #expect(stores.count == 1)
        for case .failure(let error) in opened {
            #expect((error as? StoreError)?.code == .locked, "\(error)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store"])
        try stores.first?.close()
    }

    @Test func aFileBeingMadeIsNotTakenForALeftover() throws {
        let new = try NewFile(path + ".new", PosixMedium(), nil)
        expectLocked(path, "being made")
        #expect(try new.file.isNamed(path + ".new", in: PosixMedium()))
        withExtendedLifetime(new.lock) {}
    }
}
