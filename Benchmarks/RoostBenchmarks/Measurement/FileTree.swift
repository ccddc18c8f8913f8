import Foundation

/// The files of a store: one directory without subdirectories.
enum FileTree {
    /// The sum of the lengths of all files in `directory`.
    static func size(of directory: String) -> Int {
        names(directory).reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    /// Makes `target` an empty directory.
    static func empty(_ target: String) throws {
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    }

    /// Copies every file of `source` into `target`, which is emptied first.
    static func copy(_ source: String, to target: String) throws {
        try empty(target)
        for name in names(source) {
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    private static func names(_ directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
