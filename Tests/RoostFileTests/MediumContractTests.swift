import RoostFile
import Testing

/// What holds for every medium, so that the simulated one is no kinder or harsher than the real one.
@Suite(.timeLimit(.minutes(1)))
struct MediumContractTests {
    @Test(arguments: Place.Kind.allCases)
    func bytesAreReadAsTheyWereWritten(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file")
        let bytes = pattern(10_000)
        try file.writeFully(bytes, at: 3)
        #expect(try file.readFully(10_000, at: 3) == bytes)
        #expect(try file.readFully(5_000, at: 4_099) == Array(bytes[4_096..<9_096]))
        #expect(try file.size() == 10_003)
        try file.writeFully([1, 2, 3], at: 4_098)
        #expect(try file.readFully(5, at: 4_097) == [bytes[4_094], 1, 2, 3, bytes[4_098]])
    }

    @Test(arguments: Place.Kind.allCases)
    func readsEndWhereTheFileEnds(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file", pattern(100))
        #expect(try file.readFully(200, at: 90) == Array(pattern(100)[90...]))
        #expect(try file.read(10, at: 100) == [])
        #expect(try file.read(10, at: 1 << 40) == [])
        #expect(try file.read(10, at: .max) == [])
        #expect(try file.read(0, at: 0) == [])
    }

    @Test(arguments: Place.Kind.allCases)
    func gapsAreZero(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file", [9])
        try file.writeFully([7], at: 9_000)
        #expect(try file.readFully(9_001) == [9] + [UInt8](repeating: 0, count: 8_999) + [7])
    }

    @Test(arguments: Place.Kind.allCases)
    func truncationCutsAndExtendsWithZeros(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file", pattern(9_000))
        try file.truncate(to: 4_100)
        #expect(try file.size() == 4_100)
        try file.truncate(to: 9_000)
        let expected = Array(pattern(9_000)[..<4_100]) + [UInt8](repeating: 0, count: 4_900)
        #expect(try file.readFully(10_000) == expected)
        #expect(code { try file.truncate(to: .max) } == .noSpace)
    }

    @Test(arguments: Place.Kind.allCases)
    func writesBeyondEveryFileAreRefusedForLackOfSpace(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file")
        #expect(code { try file.write([1, 2, 3], at: UInt64.max) } == .noSpace)
        #expect(code { try file.write([1, 2, 3], at: UInt64(Int64.max)) } != nil)
        #expect(try file.size() == 0)
    }

    @Test(arguments: Place.Kind.allCases)
    func openModes(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let path = place.path("file")
        #expect(code { _ = try place.medium.open(path, .readOnly) } == .notFound)
        #expect(code { _ = try place.medium.open(path, .readWrite) } == .notFound)
        #expect(code { _ = try place.medium.open(place.path("missing/file"), .createNew) } == .notFound)
        #expect(code { _ = try place.medium.open(path + "/below", .createNew) } == .notFound)
        let file = try place.create("file", [1, 2, 3])
        #expect(file.path == path)
        #expect(code { _ = try place.medium.open(path, .createNew) } == .alreadyExists)
        let reader = try place.medium.open(path, .readOnly)
        #expect(try reader.readFully(3) == [1, 2, 3])
        #expect(code { try reader.write([4], at: 0) } == .other)
        #expect(code { try reader.truncate(to: 0) } == .other)
        try place.medium.open(path, .readWrite).writeFully([4], at: 1)
        #expect(try reader.readFully(3) == [1, 4, 3])
        #expect(code { _ = try place.medium.open(place.directory, .readWrite) } == .notAFile(.directory))
    }

    @Test(arguments: Place.Kind.allCases)
    func renamingReplacesAndKeepsIdentity(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let old = try place.create("data", [1])
        let new = try place.create("data.new", [2, 2])
        let identity = try new.identity()
        #expect(try old.identity() != identity)
        try place.medium.rename(place.path("data.new"), to: place.path("data"))
        try place.medium.syncDirectory(of: place.path("data"))
        let status = try place.medium.status(of: place.path("data"))
        #expect(
            status == FileStatus(size: 2, identity: identity, kind: .file, access: try new.access()))
        #expect(try place.medium.status(of: place.path("data.new")) == nil)
        #expect(try old.readFully(9) == [1])
        #expect(try new.readFully(9) == [2, 2])
        #expect(code { try place.medium.rename(place.path("none"), to: place.path("data")) } == .notFound)
        #expect(code { try place.medium.rename(place.path("data"), to: place.directory) } == .other)
    }

    @Test(arguments: Place.Kind.allCases)
    func directoriesMoveWithWhatTheyHold(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        try place.medium.createDirectory(place.path("a"))
        try place.medium.createDirectory(place.path("b"))
        _ = try place.create("a/file", [5])
        #expect(code { try place.medium.remove(place.path("a")) } == .other)
        try place.medium.rename(place.path("a"), to: place.path("b"))
        #expect(try place.medium.open(place.path("b/file"), .readOnly).readFully(1) == [5])
        #expect(try place.medium.status(of: place.path("a/file")) == nil)
        #expect(try place.medium.status(of: place.path("b"))?.kind == .directory)
        #expect(code { try place.medium.createDirectory(place.path("b")) } == .alreadyExists)
        try place.medium.remove(place.path("b/file"))
        try place.medium.remove(place.path("b"))
        #expect(try place.medium.list(place.directory) == [])
    }

    @Test(arguments: Place.Kind.allCases)
    func removedFilesServeTheirHandles(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file", [1, 2])
        try place.medium.remove(place.path("file"))
        #expect(try place.medium.status(of: place.path("file")) == nil)
        try file.writeFully([3], at: 2)
        #expect(try file.readFully(9) == [1, 2, 3])
        #expect(code { try place.medium.remove(place.path("file")) } == .notFound)
    }

    @Test(arguments: Place.Kind.allCases)
    func listingNamesEverythingOnce(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let names = (0..<20).map { "file \($0) ü" }
        for name in names { _ = try place.create(name) }
        try place.medium.createDirectory(place.path(".hidden"))
        #expect(try Set(place.medium.list(place.directory)) == Set(names + [".hidden"]))
        #expect(try place.medium.list(place.directory).count == 21)
        #expect(code { _ = try place.medium.list(place.path("none")) } == .notFound)
        #expect(code { _ = try place.medium.list(place.path("file 0 ü")) } == .notFound)
    }

    @Test(arguments: Place.Kind.allCases)
    func locksExcludeOtherHandles(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let first = try place.create("file")
        let second = try place.medium.open(place.path("file"), .readWrite)
        var lock: (any FileLock)? = try first.lock()
        for _ in 0..<2 { #expect(isLocked(second)) }
        // The lock is the file's, whatever its name is.
        try place.medium.rename(place.path("file"), to: place.path("renamed"))
        #expect(isLocked(try place.medium.open(place.path("renamed"), .readWrite)))
        #expect(isLocked(second))
        withExtendedLifetime(lock) {}
        lock = nil
        lock = try second.lock()
        #expect(isLocked(first))
        withExtendedLifetime(lock) {}
        #expect(try place.medium.list(place.directory) == ["renamed"])
    }

    private func isLocked(_ file: any File) -> Bool {
        guard case .locked = code({ _ = try file.lock() }) else { return false }
        return true
    }

    @Test(arguments: Place.Kind.allCases)
    func locksOutliveTheirFilesHandles(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        var file: (any File)? = try place.create("file")
        let lock = try file?.lock()
        file = nil
        #expect(isLocked(try place.medium.open(place.path("file"), .readWrite)))
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: Place.Kind.allCases)
    func anotherHandleIsTheSameFileUnderItsNewName(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        var first: (any File)? = try place.create("file", [1, 2, 3])
        let second = try #require(try first?.handle(named: place.path("renamed")))
        #expect(second.path == place.path("renamed"))
        #expect(try second.identity() == first?.identity())
        withExtendedLifetime(first) {}
        first = nil
        try second.writeFully([9], at: 1)
        #expect(try second.readFully(3) == [1, 9, 3])
    }

    @Test(arguments: Place.Kind.allCases)
    func filesCanBeMadeWithTheAccessOfOthers(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let access = try place.create("file").access()
        let file = try place.medium.open(place.path("other"), .createWith(access))
        #expect(try file.access() == access)
        #expect(
            code { _ = try place.medium.open(place.path("other"), .createWith(access)) } == .alreadyExists)
        try file.writeFully([1])
        try place.medium.createDirectory(place.path("directory"), access.ofDirectory)
        #expect(try place.medium.status(of: place.path("directory"))?.kind == .directory)
    }

    @Test(arguments: Place.Kind.allCases)
    func syncsOfWhatIsThereSucceed(_ kind: Place.Kind) throws {
        let place = try Place(kind)
        let file = try place.create("file", [1])
        try file.sync()
        try place.medium.syncDirectory(of: file.path)
        try place.medium.syncDirectory(of: place.directory + "/")
        #expect(code { try place.medium.syncDirectory(of: place.path("none/file")) } == .notFound)
    }

    @Test func directoryParts() {
        let parts = [
            "a": ".", "": ".", "a/": ".", "/a": "/", "//a": "/", "/": "/", "a/b": "a", "a//b/": "a",
            "/a/b": "/a", "/a/b//": "/a",
        ]
        for (path, part) in parts { #expect(directoryPart(of: path) == part, "\(path)") }
    }
}
