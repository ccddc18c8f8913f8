import Foundation
import RoostREST
import RoostServer
import TestCertificates
import Testing

@testable import RoostCommand

@Suite struct ReplicateCommandTests {
    private let tool = Tool()
    private let other = Tool()

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test func aPathToAPath() async {
        _ = tool.run("put", "a", #"{"n":1}"#)
        _ = tool.run("put", "b", #"{"n":2}"#)
        let first = await Tool.onItsOwnThread { [tool, other] in
            tool.run(["replicate", tool.path, other.path, "--doc-ids", "a"])
        }
        #expect(first.status == 0)
        #expect(first.output == "1 changed document compared, 1 revision carried.\n")
        #expect(lines(other.output("ls")).count == 1)
        let second = await Tool.onItsOwnThread { [tool, other] in
            tool.run(["replicate", tool.path, other.path])
        }
        #expect(second.output == "2 changed documents compared, 1 revision carried.\n")
        #expect(lines(other.output("ls")).count == 2)
    }

    /// A server of databases in a directory, whose admin is anna.
    private func serve(_ directory: Tool, _ identity: TLSIdentity? = nil) throws -> HTTPServer {
        var options = RouterOptions()
        options.admins = ["anna": "secret words"]
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        serverOptions.identity = identity
        return try HTTPServer(
            Router(try DatabaseDirectory(directory.path), options: options), options: serverOptions)
    }

    /// To a server and back, with the password in a file.
    @Test func anAddress() async throws {
        let directory = Tool()
        let server = try serve(directory)
        let file = directory.path + "-password"
        try "secret words\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let address = server.url + "/notes"
        let login = ["--user", "anna", "--password-file", file]
        _ = tool.run("put", "a", #"{"n":1}"#)
        let missing = await Tool.onItsOwnThread { [tool] in
            tool.run(["replicate", tool.path, address] + login)
        }
        #expect(missing.status == 1)
        #expect(missing.output == "roost: \(address): 404 not_found, Database does not exist.\n")
        let pushed = await Tool.onItsOwnThread { [tool] in
            tool.run(["replicate", tool.path, address, "--create-target"] + login)
        }
        #expect(pushed.output == "1 changed document compared, 1 revision carried.\n")
        let refused = await Tool.onItsOwnThread { [tool] in tool.run(["replicate", tool.path, address]) }
        #expect(refused.status == 1)
        #expect(refused.output.hasPrefix("roost: \(address): 401 unauthorized"))
        let pulled = await Tool.onItsOwnThread { [other] in
            other.run(["replicate", address, other.path, "--json"] + login)
        }
        #expect(pulled.output.contains(#""pulledWritten":1"#))
        #expect(other.output("get", "a").contains(#""n":1"#))
        let copied = await Tool.onItsOwnThread { [tool] in
            tool.run(["replicate", address, server.url + "/copy", "--create-target"] + login)
        }
        #expect(copied.output == "1 changed document compared, 1 revision carried.\n")
        await server.stop()
    }

    @Test func aServersReplicationsAreListed() async throws {
        let directory = Tool()
        let databases = try DatabaseDirectory(directory.path)
        var options = RouterOptions()
        options.admins = ["anna": "secret words"]
        let router = Router(databases, options: options)
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        let server = try HTTPServer(router, options: serverOptions)
        let file = directory.path + "-password"
        try "secret words\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let login = ["--user", "anna", "--password-file", file]
        let none = await Tool.onItsOwnThread { directory.run(["replications", server.url] + login) }
        #expect(none.output == "There are no replications.\n")
        let body = #"{"source":"http://127.0.0.1:1/x","target":"b"}"#
        let saved = await router.respond(to: .json("PUT", "/_replicator/job", body), as: .admin)
        #expect(saved.status == 201)
        for place in [server.url, directory.path] {
            let listed = await Tool.onItsOwnThread { directory.run(["replications", place] + login) }
            #expect(listed.status == 0)
            #expect(listed.output.split(separator: "\n").last?.hasPrefix("job") == true, "\(listed.output)")
            #expect(listed.output.contains("http://127.0.0.1:1/x"))
        }
        await server.stop()
    }

    @Test(.enabled(if: TLSIdentity.isAvailable)) func certificatesAndKeysDecide() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.issue()
        let pins = try (
            right: certificates.pin(of: pair), wrong: certificates.pin(of: certificates.authority)
        )
        let directory = Tool()
        let server = try serve(
            directory, TLSIdentity(certificateFile: pair.certificate, keyFile: pair.key))
        let file = certificates.path("password")
        try "secret words\n".write(toFile: file, atomically: true, encoding: .utf8)
        _ = tool.run("put", "a", #"{"n":1}"#)
        let replicate = [
            "replicate", tool.path, server.url + "/notes", "--create-target", "--user", "anna",
            "--password-file",
            file,
        ]
        let known = ["--certificates", certificates.authority.certificate]
        for more in [[], known + ["--pins", pins.wrong]] {
            let refused = await Tool.onItsOwnThread { [tool] in tool.run(replicate + more) }
            #expect(
                refused.status == 1 && refused.output.hasPrefix("roost: https://127.0.0.1:"), "\(refused)")
        }
        let pushed = await Tool.onItsOwnThread { [tool] in
            tool.run(replicate + known + ["--pins", "\(pins.wrong),\(pins.right)"])
        }
        #expect(pushed.output == "1 changed document compared, 1 revision carried.\n")
        for pins in ["", "abc", "\(pins.right),x"] {
            #expect(tool.run(replicate + ["--pins", pins]).status == 2)
        }
        await server.stop()
    }

    /// Nothing is served in the clear where something is wrong with the certificate.
    @Test func aServerSaysWhatIsWrongWithItsCertificate() {
        for arguments in [["--key", "x"], ["--certificate", "x"]] {
            let result = tool.run(["serve", tool.path] + arguments)
            #expect(result.status == 2 && result.output.contains("--certificate and --key"), "\(result)")
        }
        let result = tool.run(["serve", tool.path, "--certificate", tool.path + "-none", "--key", "x"])
        #expect(result.status == 1 && !FileManager.default.fileExists(atPath: tool.path))
        #expect(result.output.contains(TLSIdentity.isAvailable ? "-none can't be read" : "trait TLS"))
        let beyond = tool.run("serve", "--address", "0.0.0.0")
        #expect(beyond.status == 2 && beyond.output.contains("--certificate"))
    }

    @Test func passwordsInAddressesAreRefused() {
        let result = tool.run("replicate", "http://anna:secret@127.0.0.1:1/notes")
        #expect(result.status == 2)
        #expect(result.output.contains("--password-file") && !result.output.contains("secret"))
    }

    @Test func filtersNeedAServer() {
        #expect(tool.run("replicate", other.path, "--selector", "{}").status == 2)
        #expect(tool.run("replicate", "http://127.0.0.1:1/x", "--filter", "a/b").status == 2)
    }
}
