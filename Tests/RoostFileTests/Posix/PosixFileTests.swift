import Foundation
import Testing

@testable import RoostFile

struct PosixFileTests {
    @Test func contentsAreAnOrdinaryFile() throws {
        let place = try Place(.posix)
        let file = try place.create("file", pattern(5_000))
        try file.sync()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == Data(pattern(5_000)))
    }

    @Test func relativePathsAndBareNamesAreTheSystems() throws {
        let medium = PosixMedium()
        let name = "RoostFileTests-" + UUID().uuidString
        _ = try medium.open(name, .createNew)
        defer { try? medium.remove(name) }
        try medium.syncDirectory(of: name)
        #expect(FileManager.default.fileExists(atPath: FileManager.default.currentDirectoryPath + "/" + name))
    }

    @Test func errorsNameOperationPathAndNumber() throws {
        let place = try Place(.posix)
        let path = place.path("none")
        #expect(throws: FileError(.notFound, operation: "open", path: path, errno: ENOENT)) {
            try place.medium.open(path, .readOnly)
        }
        let reader = try place.medium.open(place.create("file").path, .readOnly)
        #expect(throws: FileError(.other, operation: "write", path: reader.path, errno: EBADF)) {
            try reader.write([1], at: 0)
        }
    }

    @Test(arguments: [
        (ENOENT, FileError.Code.notFound), (ENOTDIR, .notFound), (EEXIST, .alreadyExists), (ENOSPC, .noSpace),
        (EDQUOT, .noSpace), (EFBIG, .noSpace), (EIO, .inputOutput), (EINTR, .interrupted),
        (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EROFS, .permissionDenied), (EBADF, .other),
    ])
    func errorNumbersHaveCodes(_ number: Int32, _ code: FileError.Code) {
        #expect(FileError.Code(errno: number) == code)
    }

    #if os(Linux)
        @Test func aFullDeviceIsOutOfSpace() throws {
            let descriptor = unsafe open("/dev/full", O_RDWR)
            let file = PosixFile(descriptor: descriptor, path: "/dev/full")
            #expect(code { try file.write([1], at: 0) } == .noSpace)
            #expect(code { try file.writeFully([1], at: 0) } == .noSpace)
        }
    #endif

    @Test func descriptorsAreClosedWithTheLastReference() throws {
        let place = try Place(.posix)
        var file: (any File)? = try place.create("file", [1])
        let identity = try #require(try file?.identity())
        var second: (any File)? = try place.medium.open(place.path("file"), .readOnly)
        #expect(descriptors(of: identity) == 2)
        withExtendedLifetime((file, second)) {}
        second = nil
        #expect(descriptors(of: identity) == 1)
        file = nil
        #expect(descriptors(of: identity) == 0)
    }

    /// How many of this process's descriptors stand for a file.
    private func descriptors(of identity: FileIdentity) -> Int {
        (0..<Int32(4_096)).count { descriptor in
            var status = stat()
            return unsafe fstat(descriptor, &status) == 0 && UInt64(status.st_ino) == identity.inode
                && UInt64(truncatingIfNeeded: status.st_dev) == identity.device
        }
    }

    @Test func threadsShareAFile() async throws {
        let place = try Place(.posix)
        let file = try place.create("file")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let offset = UInt64(index) * 4_096
                    for round in 0..<50 {
                        try file.writeFully(pattern(4_096, salt: index + round), at: offset)
                    }
                    let mine = try file.readFully(4_096, at: offset)
                    #expect(mine == pattern(4_096, salt: index + 49))
                }
            }
            try await group.waitForAll()
        }
        #expect(try file.size() == 8 * 4_096)
    }
}
