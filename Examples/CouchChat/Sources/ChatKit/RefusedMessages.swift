import Fleece
import Roost
import RoostSync

/// Says again what the server refused because it did not know the room, or who is in it, yet.
///
/// Documents are carried in the order of their last changes. So a room that was changed on the way, such as by an invitation, comes after
/// messages of before that. A message that was changed is carried anew.
struct RefusedMessages: Sendable {
    let documents: DocumentCollection
    let author: String

    /// How often a message is said, until the server means it.
    private static let mostAttempts = 5

    func sayAgain(_ problems: [ReplicationProblem]) throws {
        for problem in problems {
            guard var message = try documents.document(problem.document)?.mutableCopy(),
                message["type"] == "chat", message["author"] == .string(author)
            else { continue }
            let attempts = (message["attempts"].int ?? 1) + 1
            guard attempts <= Self.mostAttempts else { continue }
            message["attempts"] = .integer(Int64(attempts))
            try documents.save(&message)
        }
    }
}
