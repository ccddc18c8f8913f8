import Foundation
import RoostBytes
import Testing

@testable import RoostFile

/// A long file that has lost its name is cut off before it is closed, by whoever alone has it open.
@Suite struct OpenFileTests {
    /// Longer than what is closed as it is.
    private static let length = 20 << 20

    private func handles(_ count: Int) throws -> (Place, [any File]) {
        let place = try Place(.posix)
        let bytes = [UInt8](repeating: 7, count: Self.length)
        let first = try place.create("file", bytes)
        let others = try (1..<count).map { _ in try place.medium.open(first.path, .readWrite) }
        try place.medium.remove(first.path)
        return (place, [first] + others)
    }

    private func isWhole(_ file: any File) throws -> Bool {
        let buffer = ByteBuffer()
        buffer.resize(to: Self.length + 1)
        let count = unsafe try file.readFully(into: buffer.mutableBytes, at: 0)
        return try file.size() == UInt64(Self.length) && count == Self.length
            && buffer.view.slice(0, count).array.allSatisfy { $0 == 7 }
    }

    @Test func whatSomebodyElseHasOpenStaysAsItIs() throws {
        var (_, files) = try handles(3)
        files.removeFirst()
        #expect(try isWhole(files[0]))
        files.removeFirst()
        #expect(try isWhole(files[0]))
    }

    @Test func whatAnotherHandleOfTheSameOpenFileReadsStaysAsItIs() throws {
        var (place, files) = try handles(1)
        let renamed = try files[0].handle(named: place.path("renamed"))
        files = []
        #expect(renamed.path == place.path("renamed"))
        #expect(try isWhole(renamed))
    }

    @Test func whatIsMappedStaysAsItIs() throws {
        var (_, files) = try handles(1)
        let lost = LostPages()
        let mapping = try #require(try files[0].map(Self.length, at: 0, counting: lost))
        files = []
        #expect(mapping.view.array.allSatisfy { $0 == 7 } && lost.count.value == 0)
        withExtendedLifetime(mapping) {}
    }

    @Test func whatHasANameStaysAsItIs() throws {
        let place = try Place(.posix)
        var file: (any File)? = try place.create("file", [UInt8](repeating: 7, count: Self.length))
        try place.medium.rename(place.path("file"), to: place.path("other"))
        file = nil
        #expect(file == nil)
        #expect(try isWhole(try place.medium.open(place.path("other"), .readOnly)))
    }

    #if os(Linux)
        @Test func whatNobodyElseHasOpenIsCutOff() throws {
            let place = try Place(.posix)
            let path = try place.create("file", [UInt8](repeating: 7, count: Self.length)).path
            let file = OpenFile(openDescriptor(path, O_RDWR))
            var status = stat()
            file.giveBackSpace()
            #expect(statusOfDescriptor(file.descriptor, &status) == 0 && status.st_size == Self.length)
            try place.medium.remove(path)
            file.giveBackSpace()
            #expect(statusOfDescriptor(file.descriptor, &status) == 0 && status.st_size < Self.length / 2)
        }

        @Test func theSystemTellsWhetherAFileIsOpenedOnce() throws {
            let path = NSTemporaryDirectory() + "opened-once-" + UUID().uuidString
            let first = openDescriptor(path, O_RDWR | O_CREAT, permissions: 0o600)
            defer { closeDescriptor(first) }
            #expect(isOpenedOnce(first))
            for flags in [O_RDONLY, O_RDWR] {
                let second = openDescriptor(path, flags)
                #expect(!isOpenedOnce(first))
                // A mapping counts as long as it lasts.
                _ = ftruncate(first, 4096)
                let address = unsafe mmap(nil, 4096, PROT_READ, MAP_SHARED, second, 0)
                closeDescriptor(second)
                #expect(!isOpenedOnce(first))
                unsafe munmap(address, 4096)
                #expect(isOpenedOnce(first))
            }
            #expect(unsafe unlink(path) == 0)
            #expect(isOpenedOnce(first))
        }
    #endif
}
