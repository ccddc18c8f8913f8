import Fleece
import Roost
import RoostREST

/// Who may write and see what in CouchChat: profiles are everybody's to see, rooms and their messages those of their owners and
/// members.
public enum ChatRules {
    /// The rules in Swift.
    public static let syncFunction = SyncFunction { document, old, sync in
        if let old { try requireRight(to: old, sync) }
        guard !document.isDeleted else {
            // A deleted document is in no channel and grants nothing any more.
            guard old != nil else { throw ValidationFailure.forbidden("there is nothing to delete") }
            return
        }
        let type = document["type"].string
        guard old == nil || old?["type"].string == type else {
            throw ValidationFailure.forbidden("the type stays as it is")
        }
        switch type {
        case "profile": try decideOnProfile(document, &sync)
        case "room": try decideOnRoom(document, isNew: old == nil, &sync)
        case "chat": try decideOnMessage(document, old, &sync)
        default: throw ValidationFailure.forbidden("profiles, rooms and messages only")
        }
    }

    /// The same rules in JavaScript.
    public static var javaScript: String {
        String(decoding: PackageResources.sync_function_js, as: UTF8.self)
    }

    /// What is there belongs to somebody, who alone may change or delete it.
    private static func requireRight(to old: Document, _ sync: SyncDecision) throws {
        switch old["type"].string {
        case "profile": try sync.requireUser(String(old.id.dropFirst("profile:".count)))
        case "room": try sync.requireUser(names(old["owners"]) ?? [])
        case "chat": try sync.requireUser(old["author"].string ?? "")
        default: break
        }
    }

    private static func decideOnProfile(_ profile: ExaminedDocument, _ sync: inout SyncDecision) throws {
        guard profile.id.hasPrefix("profile:") else {
            throw ValidationFailure.forbidden("a profile's ID is profile:NAME")
        }
        let user = String(profile.id.dropFirst("profile:".count))
        try sync.requireUser(user)
        sync.channel("profiles")
        sync.access(user, "profiles")
    }

    private static func decideOnRoom(
        _ room: ExaminedDocument, isNew: Bool, _ sync: inout SyncDecision
    ) throws {
        guard room["channel_id"].string == room.id else {
            throw ValidationFailure.forbidden("a room's channel_id is its ID")
        }
        guard let owners = names(room["owners"]), !owners.isEmpty else {
            throw ValidationFailure.forbidden("owners must be an array of names")
        }
        guard let members = room["members"].exists ? names(room["members"]) : [] else {
            throw ValidationFailure.forbidden("members must be an array of names")
        }
        if isNew { try sync.requireUser(owners) }
        sync.channel("ch-\(room.id)")
        sync.access(owners + members, ["ch-\(room.id)"])
    }

    private static func decideOnMessage(
        _ message: ExaminedDocument, _ old: Document?, _ sync: inout SyncDecision
    ) throws {
        guard let author = text(message["author"]) else {
            throw ValidationFailure.forbidden("a message has an author")
        }
        guard let room = text(message["channel_id"]) else {
            throw ValidationFailure.forbidden("a message has a channel_id")
        }
        guard old == nil || old?["channel_id"].string == room else {
            throw ValidationFailure.forbidden("a message stays in its room")
        }
        try sync.requireUser(author)
        try sync.requireAccess("ch-\(room)")
        sync.channel("ch-\(room)")
    }

    /// A text that says something; `nil` for anything else.
    private static func text(_ value: FleeceValue) -> String? {
        value.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Names; `nil` for anything else.
    private static func names(_ value: FleeceValue) -> [String]? {
        guard let values = value.array?.map(text), !values.contains(nil) else { return nil }
        return values.compactMap { $0 }
    }
}
