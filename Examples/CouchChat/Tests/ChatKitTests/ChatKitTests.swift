import ChatKit
import RoostSync
import Testing

/// Devices of several people with a server in between.
@Suite struct ChatKitTests {
    /// Anna's room with Ben in it, on both of their devices.
    private static func garden(
        in house: House
    ) async throws -> (anna: ChatClient, ben: ChatClient, room: String) {
        let (anna, ben) = (try await house.join("anna"), try await house.join("ben"))
        try await wait(for: anna.people()) { $0.map(\.name) == ["anna", "ben"] }
        let room = try anna.makeRoom("Garden").id
        try anna.invite("ben", to: room)
        try await wait(for: ben.rooms()) { $0.map(\.id) == [room] && $0[0].members == ["ben"] }
        return (anna, ben, room)
    }

    @Test func membersSeeWhatIsSaidAndNobodyElseDoes() async throws {
        let house = try await House()
        let (anna, ben, room) = try await Self.garden(in: house)
        let eve = try await house.join("eve")
        try anna.say("Tea?", in: room)
        try await wait(for: ben.messages(in: room)) { $0.map(\.markdown) == ["Tea?"] }
        let picture = (0..<100_000).map { _ in UInt8.random(in: 0...255) }
        try ben.say("Look:", in: room, picture: ("swift.png", "image/png", picture))
        let messages = try await wait(for: anna.messages(in: room)) { $0.count == 2 }
        #expect(messages.map(\.author) == ["anna", "ben"])
        // The day as well, or messages would come in the order of the hours.
        let form = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
        #expect(messages.allSatisfy { $0.createdAt.wholeMatch(of: form) != nil }, "\(messages)")
        #expect(try anna.pictures(of: messages[1].id) == ["swift.png"])
        #expect(try anna.picture("swift.png", of: messages[1].id) == picture)

        // All that she may see has come to Eve: the people.
        try await wait(for: eve.people()) { $0.map(\.name) == ["anna", "ben", "eve"] }
        try await wait(for: eve.states) { if case .idle = $0.phase { true } else { false } }
        #expect(try await wait(for: eve.rooms()) { _ in true }.isEmpty)
        #expect(try await wait(for: eve.messages(in: room)) { _ in true }.isEmpty)
        try await house.end()
    }

    @Test func whatIsWrittenWithoutTheServerArrivesLater() async throws {
        let house = try await House()
        let (anna, ben, room) = try await Self.garden(in: house)
        await house.close()
        try anna.say("Is anybody there?", in: room)
        try await wait(for: anna.messages(in: room)) { $0.map(\.markdown) == ["Is anybody there?"] }
        try ben.say("Nobody.", in: room)
        // The room is carried after the message, since it was changed after it.
        let loft = try anna.makeRoom("Loft").id
        try anna.say("Up here!", in: loft)
        try anna.invite("ben", to: loft)

        try await house.open()
        try await wait(for: ben.messages(in: room)) { $0.map(\.author) == ["anna", "ben"] }
        try await wait(for: anna.messages(in: room)) { $0.map(\.author) == ["anna", "ben"] }
        try await wait(for: ben.messages(in: loft)) { $0.map(\.markdown) == ["Up here!"] }
        try await house.end()
    }

    @Test func forgedAndForeignMessagesAreRefused() async throws {
        let house = try await House()
        let (anna, ben, room) = try await Self.garden(in: house)
        let eve = try await house.join("eve")
        let forged = try await house.post(
            ["type": "chat", "author": "anna", "channel_id": room, "markdown": "I owe Ben an owl."], as: "ben"
        )
        #expect(forged.status == 403 && forged.text.contains("wrong user"), "\(forged)")
        let foreign = try await house.post(
            ["type": "chat", "author": "eve", "channel_id": room, "markdown": "Boo!"], as: "eve")
        #expect(foreign.status == 403 && foreign.text.contains("missing channel access"), "\(foreign)")
        // By way of a device it is told as a problem, and a member's title as well.
        try eve.say("Boo!", in: room)
        try await wait(for: eve.states) {
            $0.problems.contains { "\($0.cause)".contains("missing channel access") }
        }
        try ben.rename(room, to: "Ben's")
        try await wait(for: ben.states) { $0.problems.contains { $0.document == room } }

        try ben.say("All quiet.", in: room)
        try await wait(for: anna.messages(in: room)) { $0.map(\.markdown) == ["All quiet."] }
        #expect(try await wait(for: anna.rooms()) { _ in true }.map(\.title) == ["Garden"])
        try await house.end()
    }

    @Test func aRoomChangedAtTwoPlacesIsOneInTheEnd() async throws {
        let house = try await House()
        let (anna, ben, room) = try await Self.garden(in: house)
        let zoe = try await house.join("zoe")
        let tablet = try await house.device(of: "anna")
        try await wait(for: tablet.rooms()) { $0.map(\.title) == ["Garden"] && $0[0].members == ["ben"] }
        await house.close()
        try anna.rename(room, to: "Cellar")
        try anna.invite("zoe", to: room)
        for title in ["Loft", "Attic", "Roof"] { try tablet.rename(room, to: title) }
        try await house.open()
        // The title of the side with more edits, and whom the other side has invited.
        for client in [anna, tablet, ben, zoe] {
            try await wait(for: client.rooms()) {
                $0.map(\.title) == ["Roof"] && $0[0].members == ["ben", "zoe"]
            }
        }
        try await house.end()
    }

    @Test func documentsOfAnotherFormHideNoOthers() async throws {
        let house = try await House()
        let (anna, ben, room) = try await Self.garden(in: house)
        for wrong in [
            ["type": "chat", "author": "ben", "channel_id": room],
            ["type": "chat", "author": "ben", "channel_id": room, "markdown": "Hello", "created_at": ""],
        ] {
            let answer = try await house.post(wrong, as: "ben")
            #expect(answer.status == 201, "\(answer)")
        }
        try ben.say("Still here?", in: room)
        try await wait(for: anna.messages(in: room)) { $0.map(\.markdown) == ["Hello", "Still here?"] }
        try await house.end()
    }

    @Test func aNameIsGivenOnce() async throws {
        let house = try await House()
        _ = try await house.join("anna")
        _ = try await house.join("ben")
        try await house.deleteAccount("ben")
        for name in ["anna", "ben", "admin", "", "Anna", "an:na", "an/na", "a b"] {
            await #expect(throws: Account.Refusal.self, "\(name)") { try await house.account(name).signUp() }
        }
        try await house.end()
    }
}
