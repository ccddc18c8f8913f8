import Foundation
import Testing

@testable import RoostFile

/// Names that do not lead to a regular file of their own.
struct PosixLinkTests {
    let place: Place
    let medium = PosixMedium()

    init() throws { place = try Place(.posix) }

    private func link(_ name: String, to target: String) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: place.path(name), withDestinationPath: target)
        return place.path(name)
    }

    @Test(arguments: [OpenMode.readOnly, .readWrite])
    func linksAreNotFollowed(mode: OpenMode) throws {
        let target = try place.create("target", [1])
        for path in [
            try link("link", to: target.path), try link("dangling", to: place.path("none")),
            try link("directory", to: place.directory), try link("loop", to: place.path("loop")),
        ] {
            #expect(code { _ = try medium.open(path, mode) } == .notAFile(.link), "\(path)")
            #expect(try medium.status(of: path)?.kind == .link)
        }
        #expect(try medium.statusFollowingLinks(of: place.path("link"))?.kind == .file)
        #expect(try medium.statusFollowingLinks(of: place.path("directory"))?.kind == .directory)
        #expect(try medium.statusFollowingLinks(of: place.path("dangling")) == nil)
    }

    @Test func linksAreNeitherReplacedNorListedThrough() throws {
        let target = try place.create("target", [1])
        for name in ["link", "dangling"] {
            let path = try link(name, to: name == "link" ? target.path : place.path("none"))
            #expect(code { _ = try medium.open(path, .createNew) } == .alreadyExists)
            #expect(code { _ = try medium.open(path, .createWith(try target.access())) } == .alreadyExists)
            #expect(code { try medium.createDirectory(path) } == .alreadyExists)
            try medium.remove(path)
            #expect(try medium.status(of: path) == nil)
        }
        #expect(try target.readFully(9) == [1])
        #expect(try medium.status(of: place.path("none")) == nil)
        let directory = try link("directory", to: place.directory)
        #expect(throws: FileError.self) { try medium.list(directory) }
    }

    @Test(arguments: [OpenMode.readOnly, .readWrite])
    func pipesAndDevicesAreRefusedAtOnce(mode: OpenMode) throws {
        let pipe = place.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(code { _ = try medium.open(pipe, mode) } == .notAFile(.special))
        #expect(code { _ = try medium.open("/dev/null", mode) } == .notAFile(.special))
    }

    @Test func newFilesNeverHaveMorePermissionsThanTheyAreToHave() throws {
        let old = umask(0)
        defer { umask(old) }
        let mine = try place.create("file").access()
        for permissions in [0o600, 0o640, 0o644, 0o400] as [UInt16] {
            var access = mine
            access.permissions = permissions
            let path = place.path("with \(permissions)")
            let file = try medium.open(path, .createWith(access))
            #expect(try file.access() == access)
            #expect(try medium.status(of: path)?.access == access)
            try file.writeFully([1])
        }
        try medium.createDirectory(
            place.path("directory"),
            FileAccess(permissions: 0o640, owner: mine.owner, group: mine.group).ofDirectory)
        #expect(try medium.status(of: place.path("directory"))?.access.permissions == 0o750)
    }

    @Test(.enabled(if: getuid() == 0, "only root can give files away"))
    func ownersAreKept() throws {
        let access = FileAccess(permissions: 0o640, owner: 4711, group: 4712)
        #expect(try medium.open(place.path("file"), .createWith(access)).access() == access)
    }

    #if os(Linux)
        @Test(.enabled(if: getuid() == 0, "only root can become somebody else"))
        func aGroupThatCannotBeKeptHandsNothingToAnother() throws {
            let access = FileAccess(permissions: 0o664, owner: 4711, group: 4712)
            let path = place.path("file")
            unsafe chmod(place.directory, 0o777)
            let file = try asUser(4711) { try medium.open(path, .createWith(access)) }
            #expect(try file.access().permissions == 0o644)
            #expect(try file.access().owner == 4711)
        }

        /// Runs `body` in the name of another user, as far as this thread and the file system are concerned.
        private func asUser<R>(_ user: uid_t, _ body: () throws -> R) throws -> R {
            typealias Call = @convention(c) (uid_t) -> Int32
            guard let call = unsafe dlsym(nil, "setfsuid") else { throw POSIXError(.ENOSYS) }
            let setUser = unsafe unsafeBitCast(call, to: Call.self)
            _ = setUser(user)
            defer { _ = setUser(0) }
            return try body()
        }
    #endif
}
