import ChatKit
import Foundation

/// chat URL NAME [--directory DIR] [--sign-up]: the chat in a terminal.
do {
    let invocation = try Invocation(Array(CommandLine.arguments.dropFirst()))
    let account = Account(
        server: invocation.server, name: invocation.name,
        password: try Secret.read("Password of \(invocation.name): "))
    if invocation.signsUp { try await account.signUp() }
    let client = try ChatClient(
        invocation.directory, key: .passphrase(try Secret.read("Passphrase of this device: ")),
        account: account)
    if invocation.signsUp { try client.introduce(as: invocation.name) }
    try await Conversation(client).run()
    try await client.close()
} catch {
    FileHandle.standardError.write(Data("chat: \(error.localizedDescription)\n".utf8))
    exit(1)
}
