import Foundation

/// The `openssl` command measuring itself. Its AES-GCM leaves the messages' tags and nonces out, and it has chains of CBC
/// encrypted one after another only.
final class OpenSSLSpeed: PrimitiveContender {
    /// Switches AES-NI, PCLMULQDQ and the SHA extensions off (OPENSSL_ia32cap(3)), and on arm64 everything beyond NEON
    /// (bit 0 of OPENSSL_armcap). The vector instructions stay.
    private static let mask = [
        "OPENSSL_ia32cap": "~0x200000200000000:~0x20000000", "OPENSSL_armcap": "1",
    ]

    private let program: String

    init(_ program: String) { self.program = program }

    func rate(_ primitive: Primitive, _ path: PrimitivePath, seconds: Double) throws -> Double {
        let environment = path == .portable ? Self.mask : [:]
        switch primitive {
        case .gcm: return try speed(["-evp", "aes-256-gcm"], environment, seconds)
        case .ctr: return try speed(["-evp", "aes-256-ctr"], environment, seconds)
        case .cbcEncryption, .cbcChains: return try speed(["-evp", "aes-256-cbc"], environment, seconds)
        case .cbcDecryption: return try speed(["-decrypt", "-evp", "aes-256-cbc"], environment, seconds)
        case .sha1: return try speed(["-evp", "sha1"], environment, seconds)
        case .sha256: return try speed(["-evp", "sha256"], environment, seconds)
        case .md5: return try speed(["-evp", "md5"], environment, seconds)
        case .hmac: return try speed(["-hmac", "sha256"], environment, seconds)
        case .pbkdf2: return try rounds(environment, seconds)
        }
    }

    /// `openssl speed`, which counts whole seconds.
    private func speed(_ what: [String], _ environment: [String: String], _ seconds: Double) throws -> Double
    {
        let length = ["-bytes", String(Primitive.messageSize), "-seconds", String(max(1, Int(seconds)))]
        let output = try run(["speed", "-mr"] + length + what, environment)
        // The machine-readable result is the last line, and its last field bytes per second.
        let line = output.split(separator: "\n").last { $0.hasPrefix("+") } ?? ""
        guard let bytes = line.split(separator: ":").last.flatMap({ Double($0) }) else {
            throw BenchmarkError("openssl speed \(what.joined(separator: " ")) gave no figure")
        }
        return bytes / 1e6
    }

    /// `openssl kdf`, as `openssl speed` knows no PBKDF2: so many rounds that starting the program does not count.
    private func rounds(_ environment: [String: String], _ seconds: Double) throws -> Double {
        let count = Int(2e6 * seconds)
        let start = Self.childrensTime()
        let options = ["digest:SHA256", "pass:password", "salt:0123456789abcdef", "iter:\(count)"]
        _ = try run(
            ["kdf", "-keylen", "32"] + options.flatMap { ["-kdfopt", $0] } + ["PBKDF2"], environment)
        return Double(count) / (Self.childrensTime() - start)
    }

    /// Processor seconds of the programs that were started and have ended.
    private static func childrensTime() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    }

    private func run(_ arguments: [String], _ environment: [String: String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("openssl \(arguments.joined(separator: " ")) failed")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The entry, where there is such a command.
    static let entry: ContenderEntry? = {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = directories.map { "\($0)/openssl" }
        guard let program = places.first(where: FileManager.default.isExecutableFile) else { return nil }
        var entry = ContenderEntry(
            name: "openssl", title: "OpenSSL", kind: .peer,
            configuration:
                "the command openssl speed (PBKDF2: openssl kdf); portable: with OPENSSL_ia32cap masking AES-NI, "
                + "PCLMULQDQ and SHA, so that its SSSE3 and AVX2 code runs",
            rows: [.primitives, .portablePrimitives],
            open: { _ in throw BenchmarkError("openssl keeps no store") })
        entry.primitives = { OpenSSLSpeed(program) }
        return entry
    }()
}
