import Dispatch
import Foundation
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// Files that are not Roost's, and names that lead to them, stay as they are, whatever is asked of a store beside them.
@Suite struct ForeignFileTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let treasure = Data("letters from 1912\n".utf8)
    private var treasurePath: String { directory.file("treasure/letters") }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
        try FileManager.default.createDirectory(
            atPath: directory.file("treasure"), withIntermediateDirectories: true)
        try treasure.write(to: URL(fileURLWithPath: treasurePath))
    }

    /// Everything below the directory: what each name is, and what is in it.
    private func everything() throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let status = try #require(try PosixMedium().status(of: directory.file(name)))
            let content =
                status.kind == .file ? try Data(contentsOf: URL(fileURLWithPath: directory.file(name))) : nil
            found[name] = "\(status.kind) \(status.identity.inode) \(content?.base64EncodedString() ?? "")"
        }
        return found
    }

    private func makeStore(commits: Int = 3) throws {
        let store = try Store.open(path)
        let tree = try store.tree("tree")
        for number in 0..<commits { try store.write { try $0.put(Key("k\(number)"), [1, 2, 3], in: tree) } }
        try store.close()
    }

    /// Runs `body`, which must fail with one of `codes` and leave everything as it was.
    private func expectRefusal(
        _ codes: Set<StoreError.Code>, _ comment: Comment, _ body: () throws -> Void
    ) throws {
        let before = try everything()
        let error = #expect(throws: StoreError.self, comment) { try body() }
        #expect(error.map { codes.contains($0.code) } == true, "\(comment): \(String(describing: error))")
        #expect(try everything() == before, comment)
    }

    /// What can be asked of the file at `path`.
    private func everyRequest(_ path: String) -> [(name: String, request: () throws -> Void)] {
        var reading = StoreOptions()
        reading.isReadOnly = true
        var existing = StoreOptions()
        existing.createsIfMissing = false
        let (readOnly, noCreation) = (reading, existing)
        let new = directory.file("salvaged")
        return [
            ("open", { _ = try Store.open(path) }), ("read", { _ = try Store.open(path, options: readOnly) }),
            ("open existing", { _ = try Store.open(path, options: noCreation) }),
            ("check", { _ = try Store.check(path) }),
            ("salvage", { _ = try Store.salvage(path, to: new) }),
        ]
    }

    @Test(arguments: [
        Data(), Data("shopping list".utf8), Data(repeating: 0, count: 20_000),
        Data(repeating: 0x52, count: 9_000),
    ])
    func aFileThatIsNoStoreIsLeftAlone(content: Data) throws {
        try content.write(to: URL(fileURLWithPath: path))
        for name in ["lock", "new", "compact", "compact-scratch", "compact-unsynced", "part"] {
            try treasure.write(to: URL(fileURLWithPath: "\(path).\(name)"))
        }
        for (name, request) in everyRequest(path) {
            try expectRefusal([.notAStore], "\(name)", request)
        }
    }

    @Test func namesThatRoostNeedsAreNotTakenByForce() throws {
        try makeStore()
        for name in ["compact", "compact-scratch", "compact-unsynced"] {
            let file = "\(path).\(name)"
            try treasure.write(to: URL(fileURLWithPath: file))
            try expectRefusal([.alreadyExists], "\(name)") { _ = try Store.open(path) }
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: treasurePath)
            try expectRefusal([.alreadyExists], "\(name) as a link") { _ = try Store.open(path) }
            try FileManager.default.removeItem(atPath: file)
        }
        for name in ["other.new", "salvaged.part"] {
            try treasure.write(to: URL(fileURLWithPath: directory.file(name)))
        }
        try expectRefusal([.alreadyExists], "new") { _ = try Store.open(directory.file("other")) }
        try expectRefusal([.alreadyExists], "part") {
            _ = try Store.salvage(path, to: directory.file("salvaged"))
        }
        let store = try Store.open(path)
        try expectRefusal([.alreadyExists], "backup") { try store.backup(to: directory.file("other")) }
        try treasure.write(to: URL(fileURLWithPath: "\(path).compact"))
        try expectRefusal([.alreadyExists], "compaction") { try store.compact() }
    }

    @Test func filesThatOtherProgramsPutBesideAStoreStay() throws {
        try makeStore()
        for name in ["lock", "new", "backup", "txt"] {
            try treasure.write(to: URL(fileURLWithPath: "\(path).\(name)"))
        }
        let before = try everything().filter { $0.key != "store" }
        let store = try Store.open(path)
        try store.write { try $0.put(Key("more"), [4], in: $0.tree("tree")) }
        try store.compact()
        try store.close()
        #expect(try everything().filter { $0.key != "store" } == before)
    }

    @Test func whatACrashLeftIsRemoved() throws {
        try makeStore()
        let leftovers: [[UInt8]] = [
            [], [1, 2, 3], FileHeader.magic, FileHeader.magic + [1, 2, 3],
            Array(try Data(contentsOf: URL(fileURLWithPath: path))),
        ]
        for bytes in leftovers {
            for name in ["store.compact", "store.compact-scratch", "other.new"] {
                try Data(bytes).write(to: URL(fileURLWithPath: directory.file(name)))
            }
            try Store.open(path).close()
            try Store.open(directory.file("other")).close()
            #expect(try Set(everything().keys) == ["store", "other", "treasure", "treasure/letters"])
            try FileManager.default.removeItem(atPath: directory.file("other"))
        }
    }

    @Test func linksAreNotFollowed() throws {
        try makeStore()
        let link = directory.file("link")
        for target in [path, treasurePath, directory.file("none"), directory.file("treasure"), link] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            for (name, request) in everyRequest(link) {
                try expectRefusal([.notAStore], "\(name) through a link to \(target)", request)
            }
            let store = try Store.open(path)
            try expectRefusal([.notAStore, .alreadyExists], "backup to a link to \(target)") {
                try store.backup(to: link)
            }
            try expectRefusal([.alreadyExists], "salvage to a link to \(target)") {
                _ = try Store.salvage(path, to: link)
            }
            try store.close()
            try FileManager.default.removeItem(atPath: link)
        }
    }

    @Test func whatIsNoFileIsRefusedAtOnce() throws {
        try makeStore()
        let pipe = directory.file("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for place in [pipe, directory.file("treasure"), "/dev/null", "/dev/zero"] {
            for (name, request) in everyRequest(place) {
                try expectRefusal([.notAStore], "\(name) \(place)", request)
            }
        }
        let store = try Store.open(path)
        for place in [pipe, directory.file("treasure")] {
            try expectRefusal([.notAStore], "backup to \(place)") { try store.backup(to: place) }
        }
        for name in ["store.compact", "other.new"] {
            #expect(unsafe mkfifo(directory.file(name), 0o600) == 0)
        }
        try expectRefusal([.alreadyExists], "compaction") { try store.compact() }
        try expectRefusal([.alreadyExists], "backup") { try store.backup(to: directory.file("other")) }
        try expectRefusal([.alreadyExists], "creation") { _ = try Store.open(directory.file("other")) }
    }

    @Test(arguments: [0o600, 0o640, 0o666] as [UInt16])
    func permissionsAreKept(permissions: UInt16) throws {
        let old = umask(0o022)
        defer { umask(old) }
        try makeStore(commits: 20)
        #expect(unsafe chmod(path, mode_t(permissions)) == 0)
        let store = try Store.open(path)
        try store.compact { _ in
            let access = try? PosixMedium().status(of: path + ".compact")?.access
            return access.map { $0.permissions == permissions } ?? true
        }
        try store.backup(to: directory.file("backup"))
        try store.close()
        _ = try Store.salvage(path, to: directory.file("salvaged"))
        for name in ["store", "backup", "salvaged"] {
            #expect(
                try PosixMedium().status(of: directory.file(name))?.access.permissions == permissions,
                "\(name)")
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can give files away"))
    func ownersAreKept() throws {
        try makeStore(commits: 20)
        #expect(unsafe chown(path, 4711, 4712) == 0)
        let store = try Store.open(path)
        try store.compact()
        try store.backup(to: directory.file("backup"))
        try store.close()
        for name in ["store", "backup"] {
            let access = try PosixMedium().status(of: directory.file(name))?.access
            #expect(access?.owner == 4711 && access?.group == 4712, "\(name)")
        }
    }

    /// Whoever looks for a leftover while another process makes the file finds none.
    @Test func aFileThatIsJustBeingMadeIsNotTakenForForeign() throws {
        let disk = SimulatedMedium()
        let medium = GatedMedium(disk)
        medium.close(before: .status)
        let group = DispatchGroup()
        let failure = Mutex<StoreError?>(nil)
        DispatchQueue.global().async(group: group) {
            let outcome = Result { () throws(StoreError) in try LeftoverFile("new", medium).remove() }
            if case .failure(let error) = outcome { failure.withLock { $0 = error } }
        }
        medium.waitForVisitor()
        _ = try disk.open("new", .createNew)
        medium.open()
        group.wait()
        #expect(failure.withLock { $0 } == nil)
        #expect(try disk.status(of: "new") != nil)
    }
}
