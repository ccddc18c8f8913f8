import ChildProcesses
import Foundation

/// An authority of a test's own, and certificates by it, as files in a directory that goes with the value.
public final class TestCertificates: Sendable {
    /// The paths of a certificate and its key, in PEM.
    public struct Pair: Sendable {
        /// The certificate's path.
        public let certificate: String
        /// The key's path.
        public let key: String
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    /// Where the files are.
    public let directory: String
    /// The authority.
    public let authority: Pair

    /// Makes the authority.
    public init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/roost-certificates-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        authority = Pair(certificate: "\(directory)/authority.pem", key: "\(directory)/authority.key")
        try Self.openSSL(
            ["req", "-x509"] + Self.newKey + [
                "-subj", "/CN=A test's authority", "-keyout", authority.key, "-out", authority.certificate,
            ])
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// The path of a file in the directory.
    public func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// A certificate by the authority, which is valid for these names.
    public func issue(
        _ name: String = "server", for hosts: String = "DNS:localhost,IP:127.0.0.1", hasExpired: Bool = false
    ) throws -> Pair {
        let pair = Pair(certificate: path("\(name).pem"), key: path("\(name).key"))
        let request = path("\(name).request")
        try Self.openSSL(
            ["req", "-new"] + Self.newKey + ["-subj", "/CN=\(name)", "-keyout", pair.key, "-out", request])
        let settings = path("\(name).settings")
        try """
        [ca]
        default_ca = authority
        [authority]
        database = \(path("\(name).index"))
        new_certs_dir = \(directory)
        rand_serial = yes
        default_md = sha256
        policy = policy
        x509_extensions = extensions
        [policy]
        commonName = supplied
        [extensions]
        basicConstraints = critical,CA:FALSE
        subjectAltName = \(hosts)
        """.write(toFile: settings, atomically: true, encoding: .utf8)
        try "".write(toFile: path("\(name).index"), atomically: true, encoding: .utf8)
        try Self.openSSL([
            "ca", "-batch", "-notext", "-config", settings, "-cert", authority.certificate, "-keyfile",
            authority.key, "-in", request, "-out", pair.certificate, "-startdate", "20200101000000Z",
            "-enddate", hasExpired ? "20200102000000Z" : "20991231235959Z",
        ])
        return pair
    }

    /// A certificate without an authority, of a server of this machine.
    public func signItself(_ name: String, withRSA: Bool = false) throws -> Pair {
        let pair = Pair(certificate: path("\(name).pem"), key: path("\(name).key"))
        try Self.openSSL(
            ["req", "-x509"] + (withRSA ? ["-newkey", "rsa:2048", "-nodes"] : Self.newKey) + [
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                pair.key, "-out", pair.certificate,
            ])
        return pair
    }

    /// What clients pin: SHA-256 of a certificate's public key, in base64.
    public func pin(of pair: Pair) throws -> String {
        let key = path("\(UUID().uuidString).der")
        try Self.openSSL(["pkey", "-in", pair.key, "-pubout", "-outform", "DER", "-out", key])
        try Self.openSSL(["dgst", "-sha256", "-binary", "-out", key + ".sha256", key])
        return try Data(contentsOf: URL(fileURLWithPath: key + ".sha256")).base64EncodedString()
    }

    /// Has OpenSSL's program do something.
    public static func openSSL(_ arguments: [String]) throws {
        guard try ChildProcess.run(["openssl"] + arguments).status == 0 else {
            throw CocoaError(.executableLoad, userInfo: ["openssl": arguments.joined(separator: " ")])
        }
    }
}
