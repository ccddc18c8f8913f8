import Foundation

/// What the figures were measured on.
struct Machine: Codable, Sendable {
    let processor: String
    let cores: Int
    let memoryGigabytes: Int
    let kernel: String
    let fileSystem: String

    /// The machine this runs on, and the file system of `directory`.
    init(directory: String) {
        let info = ProcFile.text("cpuinfo")
        let model = info.split(separator: "\n").first { $0.hasPrefix("model name") }
        processor =
            model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
        cores = ProcessInfo.processInfo.processorCount
        memoryGigabytes = Int(ProcessInfo.processInfo.physicalMemory >> 30)
        let release = ProcFile.text("sys/kernel/osrelease")
        kernel = "Linux " + release.prefix { $0 != "-" && $0 != "\n" }
        fileSystem = Self.fileSystem(of: directory)
    }

    /// Whether fdatasync means anything here.
    var isDurable: Bool { fileSystem != "tmpfs" }

    /// The type of the mount whose path is the longest prefix of the directory's.
    private static func fileSystem(of directory: String) -> String {
        let path = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path + "/"
        var found: (depth: Int, type: String) = (0, "unknown")
        for mount in ProcFile.text("mounts").split(separator: "\n") {
            let fields = mount.split(separator: " ").map(String.init)
            guard fields.count > 2 else { continue }
            let point = fields[1].hasSuffix("/") ? fields[1] : fields[1] + "/"
            if path.hasPrefix(point), point.count >= found.depth { found = (point.count, fields[2]) }
        }
        return found.type
    }
}
