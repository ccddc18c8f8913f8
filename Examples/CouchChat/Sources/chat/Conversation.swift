import ChatKit
import Foundation
import Synchronization

/// What somebody types, and what comes meanwhile.
final class Conversation: Sendable {
    private static let help = """
        /rooms           lists your rooms            /new TITLE     makes one
        /enter NUMBER    enters one of the list      /title TITLE   renames the room
        /invite NAME     lets somebody in            /people        lists everybody
        /picture FILE    sends a picture             /save FILE     saves the room's last picture
        /quit            ends
        Everything else is said in the room.
        """

    private let client: ChatClient

    private struct State {
        var rooms: [Room] = []
        var people: [Person] = []
        var room: Room?
        var messages: [Message] = []
    }
    private let state = Mutex(State())

    init(_ client: ChatClient) { self.client = client }

    /// Goes on until the input ends.
    func run() async throws {
        showHelp()
        let followers = [
            Task { for try await rooms in try client.rooms() { show(rooms) } },
            Task { for try await people in try client.people() { state.withLock { $0.people = people } } },
            Task { for await status in client.states { tell(status.problems.map(\.description)) } },
        ]
        var listener: Task<Void, any Error>?
        let lines = Screen.lines()
        defer { Screen.end() }
        Screen.prompt(client.name)
        for await line in lines {
            if line == "/quit" { break }
            do {
                if let room = try perform(line) {
                    listener?.cancel()
                    listener = Task {
                        for try await messages in try client.messages(in: room.id) { show(messages) }
                    }
                }
            } catch {
                Screen.show("That didn't work. \(error.localizedDescription)")
            }
        }
        for task in followers + [listener].compactMap(\.self) { task.cancel() }
    }

    /// Does what a line says; answers the room that was entered.
    private func perform(_ line: String) throws -> Room? {
        guard line.hasPrefix("/") else {
            if !line.isEmpty, let room = presentRoom() { try client.say(line, in: room.id) }
            return nil
        }
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "/rooms": list(state.withLock(\.rooms))
        case "/people":
            for person in state.withLock(\.people) { Screen.show("  \(person.nick) (\(person.name))") }
        case "/new": return enter(try client.makeRoom(argument))
        case "/enter":
            let rooms = state.withLock(\.rooms)
            guard let number = Int(argument), rooms.indices.contains(number - 1) else {
                Screen.show("There is no such room in the list.")
                return nil
            }
            return enter(rooms[number - 1])
        case "/invite": if let room = presentRoom() { try client.invite(argument, to: room.id) }
        case "/title": if let room = presentRoom() { try client.rename(room.id, to: argument) }
        case "/picture": if let room = presentRoom() { try sendPicture(argument, in: room) }
        case "/save": try savePicture(argument)
        default: showHelp()
        }
        return nil
    }

    private func showHelp() {
        for line in Self.help.split(separator: "\n") { Screen.show(String(line)) }
    }

    private func presentRoom() -> Room? {
        let room = state.withLock(\.room)
        if room == nil { Screen.show("Enter a room first.") }
        return room
    }

    private func enter(_ room: Room) -> Room {
        state.withLock {
            $0.room = room; $0.messages = []
        }
        Screen.prompt(room.title)
        Screen.show("— \(room.title) —")
        return room
    }

    private func sendPicture(_ path: String, in room: Room) throws {
        let file = URL(fileURLWithPath: path)
        let type = ["png": "image/png", "gif": "image/gif"][file.pathExtension.lowercased()] ?? "image/jpeg"
        guard let content = FileManager.default.contents(atPath: path) else {
            return Screen.show("\(path) can't be read. Is there such a file?")
        }
        try client.say(
            file.lastPathComponent, in: room.id, picture: (file.lastPathComponent, type, Array(content)))
    }

    private func savePicture(_ path: String) throws {
        for message in state.withLock(\.messages).reversed() {
            guard let name = try client.pictures(of: message.id).first,
                let content = try client.picture(name, of: message.id)
            else { continue }
            do {
                try Data(content).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
                Screen.show("\(name) is in \(path).")
            } catch {
                Screen.show("\(path) can't be written. Is there a file of that name already?")
            }
            return
        }
        Screen.show("There is no picture in this room.")
    }

    // MARK: What comes

    private func show(_ rooms: [Room]) {
        let isNews = state.withLock { state in
            defer { state.rooms = rooms }
            if let room = state.room, let now = rooms.first(where: { $0.id == room.id }) {
                state.room = now
                if now.title != room.title { Screen.prompt(now.title) }
            }
            return state.rooms.map(\.title) != rooms.map(\.title)
        }
        if isNews { list(rooms) }
    }

    private func list(_ rooms: [Room]) {
        for (number, room) in rooms.enumerated() {
            let others = room.owners + (room.members ?? [])
            Screen.show("  \(number + 1). \(room.title) (\(others.joined(separator: ", ")))")
        }
    }

    private func show(_ messages: [Message]) {
        let new = state.withLock { state in
            defer { state.messages = messages }
            return messages.filter { !state.messages.contains($0) }
        }
        for message in new {
            let pictures = (try? client.pictures(of: message.id)) ?? []
            let line = "\(message.author): \(message.markdown)" + pictures.map { " [\($0)]" }.joined()
            Screen.show(line)
        }
    }

    private func tell(_ problems: [String]) {
        for problem in problems { Screen.show("Not carried: \(problem)") }
    }
}
