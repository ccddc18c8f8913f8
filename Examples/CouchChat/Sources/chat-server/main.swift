import ChatRules
import ChatService
import Dispatch
import Foundation
import RoostREST
import RoostServer

/// chat-server DIR [--port N] [--javascript]: serves the chat until it is interrupted.
let usage = """
    usage: chat-server DIR [--port N] [--javascript]

      DIR            where the data are; made if there is none
      --port N       the port; 0 takes a free one (default 5985)
      --javascript   run the rules in JavaScript instead of Swift

    The administrator is "admin"; the password is the first line of DIR/admin-password, which is made at the first start.

    """

func complain(_ message: String) -> Never {
    FileHandle.standardError.write(Data("chat-server: \(message)\n".utf8))
    exit(1)
}

/// The administrator's password: kept in a file that only its owner can read.
func administratorPassword(in directory: String) throws -> String {
    let path = directory + "/admin-password"
    if let text = try? String(contentsOfFile: path, encoding: .utf8),
        let line = text.split(separator: "\n").first
    {
        return String(line)
    }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let password = UUID().uuidString.lowercased()
    guard
        FileManager.default.createFile(
            atPath: path, contents: Data((password + "\n").utf8), attributes: [.posixPermissions: 0o600])
    else { complain("\(path) can't be written.") }
    return password
}

var arguments = Array(CommandLine.arguments.dropFirst())
var options = ServerOptions()
options.port = 5985
var isJavaScript = false
var directory: String?
while !arguments.isEmpty {
    let argument = arguments.removeFirst()
    switch argument {
    case "--port":
        guard let port = arguments.first.flatMap(UInt16.init) else { complain("--port is 0 to 65535.") }
        arguments.removeFirst()
        options.port = port
    case "--javascript": isJavaScript = true
    case "--help":
        print(usage)
        exit(0)
    default:
        guard directory == nil, !argument.hasPrefix("-") else { complain(usage) }
        directory = argument
    }
}
guard let directory else { complain(usage) }
do {
    let service = try await ChatService(
        directory + "/databases",
        rules: isJavaScript ? try ChatService.javaScriptRules() : ChatRules.syncFunction,
        administrator: ("admin", try administratorPassword(in: directory)))
    let server = try HTTPServer(service, options: options)
    print("The chat is at \(server.url)")
    fflush(nil)
    let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    signal(SIGINT, SIG_IGN)
    interruption.setEventHandler { @Sendable in
        Task.detached { await server.stop() }
    }
    interruption.resume()
    await server.run()
    try service.close()
} catch {
    complain(error.localizedDescription)
}
