import RoostREST
import RoostScript
import Testing

/// Sync functions in JavaScript: a chat's, with profiles, rooms and messages, and what functions get wrong.
@Suite struct SyncFunctionTests {
    private static let chat = """
        // Rooms are channels that their documents open to owners and members.
        function (doc, oldDoc, userCtx, secObj) {
          if (oldDoc && oldDoc.owners) requireUser(oldDoc.owners);
          if (doc.channel_id) {
            if (doc.type == "chat") requireUser(doc.author);
            channel("ch-" + doc.channel_id);
            if (doc.channel_id == doc._id) {
              if (!Array.isArray(doc.owners)) {
                throw({forbidden : "owners must be an array"});
              }
              if (!oldDoc) requireUser(doc.owners);
              var members = [];
              if (Array.isArray(doc.members)) {
                members = doc.members;
              }
              var them = doc.owners.concat(members);
              access(them, "ch-" + doc._id);
            }
          }
          if (doc.type == "profile") {
            channel("profiles");
            var user = doc._id.substring(doc._id.indexOf(":") + 1);
            requireUser(user);
            access(user, "profiles");
          }
          if (doc.type == "notice") {
            requireRole("role:staff");
            requireAccess(["news", "profiles"]);
            channel(["news"], null);
            role(doc.readers, "role:reader");
            access("role:reader", "news");
          }
        };
        """

    private static func router(_ source: String, _ place: JavaScriptTests.Place) async throws -> ScriptRouter
    {
        let language = place.language()
        return try await ScriptRouter(language, sync: try language.syncFunction(source))
    }

    @Test(arguments: JavaScriptTests.Place.allCases)
    func theChatsRulesHold(place: JavaScriptTests.Place) async throws {
        let test = try await Self.router(Self.chat, place)
        let (ann, bob, eve) = (UserContext(name: "ann"), UserContext(name: "bob"), UserContext(name: "eve"))
        // Profiles: each their own; who has one sees all.
        let profile = #"{"type":"profile","nick":"a"}"#
        #expect(try await test.ask("PUT", "/db/profile:ann", profile, as: ann).status == 201)
        let foreign = try await test.ask("PUT", "/db/profile:bob", profile, as: eve)
        #expect(foreign.status == 403 && foreign.text.contains("wrong user"))
        #expect(try await test.ask("GET", "/db/profile:ann", as: bob).status == 404)
        #expect(try await test.ask("PUT", "/db/profile:bob", profile, as: bob).status == 201)
        #expect(try await test.ask("GET", "/db/profile:ann", as: bob).status == 200)
        // Rooms: made and changed by their owners.
        let noOwners = try await test.ask("PUT", "/db/r1", #"{"type":"room","channel_id":"r1"}"#, as: ann)
        #expect(noOwners.status == 403 && noOwners.text.contains("owners must be an array"))
        let room = #"{"type":"room","channel_id":"r1","owners":["ann"],"members":["bob"]}"#
        #expect(try await test.ask("PUT", "/db/r1", room, as: eve).status == 403)
        #expect(try await test.ask("PUT", "/db/r1", room, as: ann).status == 201)
        let revision = try await test.revision("/db/r1")
        #expect(try await test.ask("GET", "/db/r1", as: bob).status == 200)
        #expect(try await test.ask("GET", "/db/r1", as: eve).status == 404)
        let taken = #"{"type":"room","channel_id":"r1","owners":["bob"]}"#
        #expect(try await test.ask("PUT", "/db/r1?rev=\(revision)", taken, as: bob).status == 403)
        #expect(try await test.ask("DELETE", "/db/r1?rev=\(revision)", as: bob).status == 403)
        // Messages: signed by who writes them, seen in the room.
        let message = #"{"type":"chat","channel_id":"r1","author":"bob","markdown":"Hello"}"#
        #expect(try await test.ask("PUT", "/db/m1", message, as: eve).status == 403)
        #expect(try await test.ask("PUT", "/db/m1", message, as: bob).status == 201)
        #expect(
            try await test.ask("GET", "/db/_changes", as: ann).ids == [
                "profile:ann", "profile:bob", "r1", "m1",
            ])
        #expect(try await test.ask("GET", "/db/_changes", as: eve).ids == [])
        // A member who is removed sees the room no more.
        let closed = #"{"type":"room","channel_id":"r1","owners":["ann"]}"#
        #expect(try await test.ask("PUT", "/db/r1?rev=\(revision)", closed, as: ann).status == 201)
        #expect(try await test.ask("GET", "/db/m1", as: bob).status == 404)
        #expect(try await test.ask("GET", "/db/m1", as: ann).status == 200)
        // Roles, and more than one channel that would do.
        let notice = #"{"type":"notice","readers":["eve"]}"#
        #expect(try await test.ask("PUT", "/db/n1", notice, as: bob).text.contains("missing role"))
        let outsider = UserContext(name: "sam", roles: ["staff"])
        #expect(
            try await test.ask("PUT", "/db/n1", notice, as: outsider).text.contains("missing channel access"))
        #expect(
            try await test.ask("PUT", "/db/n1", notice, as: UserContext(name: "ann", roles: ["staff"])).status
                == 201)
        #expect(try await test.ask("GET", "/db/_all_docs", as: eve).ids == ["n1"])
    }

    @Test func whatAFunctionGetsWrongRefusesTheDocument() async throws {
        let source = """
            function (doc, old, user) {
              if (doc.login) throw {unauthorized: "log in as " + user.channels.join() + user.roles.join() + user.name};
              if (doc.broken) doc.nothing.more();
              if (doc.text) throw "text";
              if (doc.odd) channel({});
              channel("!");
            }
            """
        let test = try await Self.router(source, .here)
        let ann = UserContext(name: "ann", roles: ["staff"])
        let login = try await test.ask("PUT", "/db/a", #"{"login":1}"#, as: ann)
        #expect(login.status == 401 && login.text.contains("log in as !,user:annstaffann"))
        for body in [#"{"broken":1}"#, #"{"text":1}"#, #"{"odd":1}"#] {
            #expect(try await test.ask("PUT", "/db/a", body, as: ann).status == 500)
        }
        #expect(try await test.ask("GET", "/db/a").status == 404)
        #expect(try await test.ask("PUT", "/db/a", "{}", as: ann).status == 201)
        #expect(try await test.ask("GET", "/db/a", as: UserContext(name: "bob")).status == 200)
        #expect(throws: LanguageError.self) {
            try JavaScriptTests.Place.here.language().syncFunction("doc => {")
        }
    }
}
