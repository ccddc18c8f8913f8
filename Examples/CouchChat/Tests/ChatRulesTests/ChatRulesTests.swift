import ChatRules
import Foundation
import RoostREST
import RoostScript
import RoostWire
import Testing

/// Every rule, in Swift and in JavaScript: both must come to the same answer, word for word.
@Suite struct ChatRulesTests {
    enum Language: CaseIterable {
        case swift, javaScript

        var rules: SyncFunction {
            get throws {
                switch self {
                case .swift: ChatRules.syncFunction
                case .javaScript: try JavaScript(program: []).syncFunction(ChatRules.javaScript)
                }
            }
        }
    }

    /// A request as somebody, and the answer it gets: `nil` for one that is allowed.
    struct Case {
        let title: String
        let user: String
        let method: String
        let path: String
        let body: String
        let refusal: String?

        init(
            _ title: String, _ user: String, _ method: String, _ path: String, _ body: String = "",
            _ refusal: String? = nil
        ) {
            self.title = title
            self.user = user
            self.method = method
            self.path = path
            self.body = body
            self.refusal = refusal
        }
    }

    /// What is there before each case: Anna's room with Ben in it and a message of Ben's, and a room of Eve's own.
    static let furniture = [
        Case("", "anna", "PUT", "profile:anna", #"{"type":"profile","nick":"Anna"}"#),
        Case("", "ben", "PUT", "profile:ben", #"{"type":"profile","nick":"Ben"}"#),
        Case(
            "", "anna", "PUT", "garden",
            #"{"type":"room","channel_id":"garden","owners":["anna"],"members":["ben"],"title":"Garden"}"#),
        Case(
            "", "ben", "PUT", "m1",
            #"{"type":"chat","author":"ben","channel_id":"garden","markdown":"Hello"}"#
        ),
        Case("", "eve", "PUT", "den", #"{"type":"room","channel_id":"den","owners":["eve"]}"#),
    ]

    static let cases = [
        Case("own profile", "eve", "PUT", "profile:eve", #"{"type":"profile"}"#),
        Case("another's profile", "eve", "PUT", "profile:zoe", #"{"type":"profile"}"#, "wrong user"),
        Case(
            "a profile elsewhere", "eve", "PUT", "eve", #"{"type":"profile"}"#,
            "a profile's ID is profile:NAME"),
        Case("own profile again", "anna", "PUT", "profile:anna", #"{"type":"profile","nick":"A"}"#),
        Case(
            "a profile becomes a room", "anna", "PUT", "profile:anna",
            #"{"type":"room","channel_id":"profile:anna","owners":["anna"]}"#, "the type stays as it is"),
        Case("own profile deleted", "anna", "DELETE", "profile:anna"),

        Case("a room", "ben", "PUT", "r", #"{"type":"room","channel_id":"r","owners":["ben","anna"]}"#),
        Case(
            "another's room", "eve", "PUT", "r", #"{"type":"room","channel_id":"r","owners":["anna"]}"#,
            "wrong user"),
        Case(
            "a room of nobody's", "eve", "PUT", "r", #"{"type":"room","channel_id":"r","owners":[]}"#,
            "owners must be an array of names"),
        Case(
            "owners that are no list", "eve", "PUT", "r", #"{"type":"room","channel_id":"r","owners":"eve"}"#,
            "owners must be an array of names"),
        Case(
            "an owner without a name", "eve", "PUT", "r",
            #"{"type":"room","channel_id":"r","owners":["eve",""]}"#,
            "owners must be an array of names"),
        Case(
            "members that are no names", "eve", "PUT", "r",
            #"{"type":"room","channel_id":"r","owners":["eve"],"members":[1]}"#,
            "members must be an array of names"),
        Case(
            "members that are null", "eve", "PUT", "r",
            #"{"type":"room","channel_id":"r","owners":["eve"],"members":null}"#,
            "members must be an array of names"),
        Case(
            "another room's channel", "eve", "PUT", "r",
            #"{"type":"room","channel_id":"garden","owners":["eve"]}"#,
            "a room's channel_id is its ID"),
        Case(
            "a title by the owner", "anna", "PUT", "garden",
            #"{"type":"room","channel_id":"garden","owners":["anna"],"members":["ben"],"title":"Roof"}"#),
        Case(
            "a title by a member", "ben", "PUT", "garden",
            #"{"type":"room","channel_id":"garden","owners":["anna"],"members":["ben"],"title":"Mine"}"#,
            "wrong user"),
        Case(
            "another owner by a member", "ben", "PUT", "garden",
            #"{"type":"room","channel_id":"garden","owners":["anna","ben"]}"#, "wrong user"),
        Case(
            "a room given away", "anna", "PUT", "garden",
            #"{"type":"room","channel_id":"garden","owners":["ben"]}"#),
        Case("deletion by the owner", "anna", "DELETE", "garden"),
        Case("deletion by a member", "ben", "DELETE", "garden", "", "wrong user"),

        Case(
            "a message by the owner", "anna", "PUT", "m2",
            #"{"type":"chat","author":"anna","channel_id":"garden"}"#),
        Case(
            "a message by a member", "ben", "PUT", "m2",
            #"{"type":"chat","author":"ben","channel_id":"garden"}"#),
        Case(
            "a forged author", "ben", "PUT", "m2", #"{"type":"chat","author":"anna","channel_id":"garden"}"#,
            "wrong user"),
        Case(
            "no author", "ben", "PUT", "m2", #"{"type":"chat","channel_id":"garden"}"#,
            "a message has an author"),
        Case("no room", "ben", "PUT", "m2", #"{"type":"chat","author":"ben"}"#, "a message has a channel_id"),
        Case(
            "a foreign room", "eve", "PUT", "m2", #"{"type":"chat","author":"eve","channel_id":"garden"}"#,
            "missing channel access"),
        Case(
            "a room that is none", "eve", "PUT", "m2", #"{"type":"chat","author":"eve","channel_id":"lost"}"#,
            "missing channel access"),
        Case(
            "own message again", "ben", "PUT", "m1", #"{"type":"chat","author":"ben","channel_id":"garden"}"#),
        Case(
            "another's message", "anna", "PUT", "m1",
            #"{"type":"chat","author":"anna","channel_id":"garden"}"#,
            "wrong user"),
        Case(
            "own message elsewhere", "ben", "PUT", "m1",
            #"{"type":"chat","author":"ben","channel_id":"den"}"#,
            "a message stays in its room"),
        Case("own message deleted", "ben", "DELETE", "m1"),
        Case("another's message deleted", "anna", "DELETE", "m1", "", "wrong user"),

        Case("something else", "eve", "PUT", "x", #"{"type":"poem"}"#, "profiles, rooms and messages only"),
        Case("nothing at all", "eve", "PUT", "x", "{}", "profiles, rooms and messages only"),
        Case(
            "a tombstone of nothing", "eve", "PUT", "x", #"{"_deleted":true}"#, "there is nothing to delete"),
    ]

    @Test(arguments: Language.allCases)
    func everyRuleHolds(language: Language) async throws {
        for test in Self.cases {
            let chat = try await Chat(language.rules)
            for piece in Self.furniture {
                let answer = try await chat.ask(piece)
                #expect(answer.status == 201, "\(piece.path): \(answer.text)")
            }
            let answer = try await chat.ask(test)
            if let refusal = test.refusal {
                #expect(answer.status == 403, "\(test.title) in \(language)")
                #expect(
                    answer.text.contains(#""reason":"\#(refusal)""#),
                    "\(test.title) in \(language): \(answer.text)")
            } else {
                #expect(answer.status < 300, "\(test.title) in \(language): \(answer.text)")
            }
        }
    }

    @Test(arguments: Language.allCases)
    func everybodySeesWhatIsTheirs(language: Language) async throws {
        let chat = try await Chat(language.rules)
        for piece in Self.furniture { _ = try await chat.ask(piece) }
        let seen = ["anna": ["garden", "m1", "profile:anna", "profile:ben"], "eve": ["den"], "zoe": []]
        for (user, documents) in seen {
            #expect(try await chat.documents(of: user) == documents, "\(user) in \(language)")
        }
        // Profiles are seen by who has one.
        _ = try await chat.ask(Case("", "eve", "PUT", "profile:eve", #"{"type":"profile"}"#))
        #expect(try await chat.documents(of: "eve") == ["den", "profile:anna", "profile:ben", "profile:eve"])
        // Who is no member any more sees the room and its messages no more; who is made one does.
        _ = try await chat.ask(
            Case(
                "", "anna", "PUT", "garden",
                #"{"type":"room","channel_id":"garden","owners":["anna"],"members":["zoe"]}"#))
        #expect(try await chat.documents(of: "ben") == ["profile:anna", "profile:ben", "profile:eve"])
        #expect(try await chat.documents(of: "zoe") == ["garden", "m1"])
    }
}

/// A database with rules, in a directory of its own.
final class Chat {
    private let router: Router
    private let directory = FileManager.default.temporaryDirectory.path + "/couchchat-\(UUID().uuidString)"

    init(_ rules: SyncFunction) async throws {
        var hooks = Hooks()
        hooks.sync = rules
        router = Router(try DatabaseDirectory(directory), hooks: hooks)
        _ = await router.respond(to: .json("PUT", "/chat", ""), as: .admin)
        _ = await router.respond(to: .json("PUT", "/chat/_security", #"{"members":{}}"#), as: .admin)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func ask(_ test: ChatRulesTests.Case) async throws -> (status: Int, text: String) {
        var path = "/chat/\(test.path)"
        // On top of what is there, whether the user sees it or not.
        if let revision = try await json(path, as: .admin)["_rev"] as? String { path += "?rev=\(revision)" }
        let answer = await router.respond(
            to: .json(test.method, path, test.body), as: UserContext(name: test.user))
        return (answer.status, String(decoding: try await answer.bytes(), as: UTF8.self))
    }

    /// The IDs of all documents that a user sees.
    func documents(of user: String) async throws -> [String] {
        let rows = try await json("/chat/_all_docs", as: UserContext(name: user))["rows"] as? [[String: Any]]
        return rows?.compactMap { $0["id"] as? String } ?? []
    }

    private func json(_ path: String, as user: UserContext) async throws -> [String: Any] {
        let answer = await router.respond(to: .get(path), as: user)
        return try JSONSerialization.jsonObject(with: Data(try await answer.bytes())) as? [String: Any] ?? [:]
    }
}
