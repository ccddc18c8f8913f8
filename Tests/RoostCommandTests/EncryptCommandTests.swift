import Foundation
import Testing

@testable import RoostCommand

/// `roost encrypt`, `rekey` and `decrypt` do what they are called for or say why not.
@Suite struct EncryptCommandTests {
    private let tool = Tool()
    private var passphrase: String { tool.path + ".passphrase" }

    private func withPassphrase(_ body: () throws -> Void) throws {
        try Data("swifts\n".utf8).write(to: URL(fileURLWithPath: passphrase))
        defer { try? FileManager.default.removeItem(atPath: passphrase) }
        try body()
    }

    @Test func onlyAPlainDatabaseIsEncryptedAndOnlyAnEncryptedOneRekeyedOrDecrypted() throws {
        _ = tool.output("put", "a", "{}")
        try withPassphrase {
            let decrypted = tool.run("decrypt")
            #expect(decrypted.status == 1 && decrypted.output.contains("is not encrypted"))
            let rekeyed = tool.run("rekey", "--new-passphrase-file", passphrase)
            #expect(rekeyed.status == 1 && rekeyed.output.contains("`roost encrypt`"))
            #expect(tool.output("count") == "1\n", "it is not encrypted still")
            #expect(tool.run("encrypt", "--new-passphrase-file", passphrase).status == 0)
            let again = tool.run(
                "encrypt", "--passphrase-file", passphrase, "--new-passphrase-file", passphrase)
            #expect(again.status == 1 && again.output.contains("`roost rekey`"))
            #expect(
                tool.run("rekey", "--passphrase-file", passphrase, "--new-passphrase-file", passphrase).status
                    == 0)
            #expect(tool.run("decrypt", "--passphrase-file", passphrase).status == 0)
        }
        #expect(tool.output("count") == "1\n")
    }

    @Test func theKeyOfADatabaseThatHasNoneIsSaidToBeNew() throws {
        _ = tool.output("put", "a", "{}")
        try withPassphrase {
            let refused = tool.run("encrypt", "--passphrase-file", passphrase)
            #expect(
                refused.status == 1 && refused.output.contains("--new-passphrase-file FILE"),
                "\(refused.output)")
        }
    }

    @Test func passphrasesThatAreNoTextAreTakenAsTheyAre() throws {
        _ = tool.output("put", "a", "{}")
        let others = passphrase + ".other"
        defer { for file in [passphrase, others] { try? FileManager.default.removeItem(atPath: file) } }
        try Data([0x63, 0xe9, 10]).write(to: URL(fileURLWithPath: passphrase))
        try Data([0x63, 0xe8, 10]).write(to: URL(fileURLWithPath: others))
        #expect(tool.run("encrypt", "--new-passphrase-file", passphrase).status == 0)
        #expect(tool.run("count", "--passphrase-file", others).status == 1)
        #expect(tool.run("count", "--passphrase-file", passphrase).status == 0)
    }

    @Test(arguments: ["ls", "check", "inspect", "encrypt"])
    func whereAKeyIsNeededTheOptionIsNamed(command: String) throws {
        _ = tool.output("put", "a", "{}")
        try withPassphrase {
            _ = tool.output("encrypt", "--new-passphrase-file", passphrase)
            let refused = tool.run(command)
            #expect(refused.status == 1 && refused.output.contains("--passphrase-file"), "\(refused.output)")
        }
    }
}
