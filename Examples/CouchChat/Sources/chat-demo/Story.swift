import ChatKit
import ChatService
import Foundation
import RoostServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What happens in the demonstration, step by step. Each step waits until it shows where it has to.
struct Story {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let patience = Duration.seconds(60)
    private let directory = FileManager.default.temporaryDirectory.appending(
        path: "couchchat-\(UUID().uuidString)")

    func tell() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var server = try await start(port: 0)
        print("The chat's server is at \(server.url).")
        guard let url = URL(string: server.url) else { throw Failure(description: "no address") }
        let port = server.port

        let (anna, annasAccount) = try await join("anna", "Anna", url)
        let (ben, _) = try await join("ben", "Ben", url)
        let (eve, evesAccount) = try await join("eve", "Eve", url)
        for client in [anna, ben] { try await see(client.people()) { $0.count == 3 } }
        print("Anna and Ben see everybody.")

        let room = try anna.makeRoom("Garden")
        try anna.invite("ben", to: room.id)
        print("Anna makes the room Garden and invites Ben.")
        try await see(ben.rooms()) { $0.map(\.title) == ["Garden"] }
        print("Ben has the room on his device.")

        try anna.say("The swifts are back!", in: room.id)
        try await see(ben.messages(in: room.id)) { $0.map(\.markdown) == ["The swifts are back!"] }
        print("Ben reads what Anna wrote.")
        let picture = Array("GIF89a".utf8) + (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try ben.say("Look:", in: room.id, picture: ("swifts.gif", "image/gif", picture))
        try await see(anna.messages(in: room.id)) { messages in
            guard let last = messages.last, last.author == "ben" else { return false }
            return try anna.picture("swifts.gif", of: last.id) == picture
        }
        print("Anna sees Ben's picture of \(picture.count) bytes.")

        try await refused("Eve signs a message as Ben", author: "ben", room.id, as: evesAccount)
        try await refused(
            "Eve writes into a room that she is not in", author: "eve", room.id, as: evesAccount)
        try await see(eve.rooms()) { $0.isEmpty }
        print("Eve sees no room.")

        await server.stop()
        print("The server goes away. Anna and Ben go on writing, and Anna invites Eve.")
        try anna.say("Does anybody hear me?", in: room.id)
        try ben.say("I write without a network.", in: room.id)
        try anna.invite("eve", to: room.id)
        print("Ben makes a room of his own, writes there, and invites Anna.")
        let loft = try ben.makeRoom("Loft")
        try ben.say("An owl!", in: loft.id)
        try ben.invite("anna", to: loft.id)
        server = try await start(port: port)
        print("The server is back.")
        for client in [anna, ben, eve] { try await see(client.messages(in: room.id)) { $0.count == 4 } }
        print("All three have all four messages, also those from before Eve was invited.")
        try await see(anna.messages(in: loft.id)) { $0.map(\.markdown) == ["An owl!"] }
        print("Anna is in Ben's room, and reads what he wrote before he invited her.")

        let tablet = try ChatClient(
            directory.appending(path: "tablet").path, key: .passphrase("the tablet"), account: annasAccount)
        try await see(tablet.rooms()) { $0.count == 2 }
        print("Anna's tablet has both rooms, too.")
        await server.stop()
        try anna.rename(room.id, to: "Garden and owls")
        try tablet.rename(room.id, to: "Garden and swifts")
        print("The server goes away, and Anna renames the garden on both of her devices.")
        server = try await start(port: port)
        let clients = [anna, tablet, ben, eve]
        print(
            "The server is back, and all agree on the title \(try await agreedTitle(of: room.id, clients)).")

        for client in clients { try await client.close() }
        await server.stop()
        print("The end.")
    }

    private func start(port: UInt16) async throws -> HTTPServer {
        let service = try await ChatService(
            directory.appending(path: "server").path, administrator: ("admin", "demonstration"))
        var options = ServerOptions()
        options.port = port
        options.stopSeconds = 1
        return try HTTPServer(service, options: options)
    }

    /// Somebody signs up, and begins on a device of their own.
    private func join(_ name: String, _ nick: String, _ server: URL) async throws -> (ChatClient, Account) {
        let account = Account(server: server, name: name, password: "\(name) and the swifts")
        try await account.signUp()
        let client = try ChatClient(
            directory.appending(path: name).path, key: .passphrase("\(name)'s device"), account: account)
        try client.introduce(as: nick)
        print("\(nick) signs up. What the device keeps is encrypted.")
        return (client, account)
    }

    /// Waits until a list on a device shows what it is to show.
    private func see<Value>(
        _ rows: LiveRows<Value>, until holds: @escaping @Sendable ([Value]) throws -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await values in rows where try holds(values) { return }
                throw Failure(description: "the list ended")
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                throw Failure(description: "what was awaited has not come")
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Waits until all devices show the same title, and not the old one.
    private func agreedTitle(of room: String, _ clients: [ChatClient]) async throws -> String {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.patience {
            var titles: Set<String> = []
            for client in clients {
                var rooms = try client.rooms().makeAsyncIterator()
                titles.formUnion(try await rooms.next()?.filter { $0.id == room }.map(\.title) ?? [])
            }
            if titles.count == 1, let title = titles.first, title != "Garden" { return title }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Failure(description: "the devices don't agree on a title")
    }

    /// Sends a message to the server as an attacker would, without the app, and expects 403.
    private func refused(_ what: String, author: String, _ room: String, as account: Account) async throws {
        var request = URLRequest(url: account.server.appending(path: "chat"))
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode([
            "type": "chat", "author": author, "channel_id": room, "markdown": "I owe Eve an owl.",
        ])
        let login = Data("\(account.name):\(account.password)".utf8).base64EncodedString()
        request.setValue("Basic \(login)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (answer, response) = try await URLSession.shared.data(for: request)
        let text = String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard (response as? HTTPURLResponse)?.statusCode == 403 else {
            throw Failure(description: "\(what), and the server answers \(text)")
        }
        print("\(what), and is refused: \(text)")
    }
}
