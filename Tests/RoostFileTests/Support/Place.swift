import Foundation
import RoostFile
import RoostSimulation

/// A medium with an empty directory on it; what is there on the real file system goes with the value.
final class Place: Sendable {
    let medium: any Medium
    let directory: String

    /// The implementations that must agree.
    enum Kind: CaseIterable {
        case posix
        case simulated
        case memory
    }

    init(_ kind: Kind) throws {
        switch kind {
        case .posix:
            medium = PosixMedium()
            directory = NSTemporaryDirectory() + "/RoostFileTests-" + UUID().uuidString
        case .simulated:
            medium = SimulatedMedium(seed: 1)
            directory = "/directory"
        case .memory:
            medium = MemoryMedium(root: "memory:", over: PosixMedium())
            directory = "memory:/directory"
        }
        try medium.createDirectory(directory)
    }

    deinit {
        if medium is PosixMedium { try? FileManager.default.removeItem(atPath: directory) }
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func create(_ name: String, _ bytes: [UInt8] = []) throws -> any File {
        let file = try medium.open(path(name), .createNew)
        try file.writeFully(bytes)
        return file
    }
}

/// The code of the error that `body` throws, `nil` when it throws none.
func code(_ body: () throws -> Void) -> FileError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? FileError)?.code
    }
}
