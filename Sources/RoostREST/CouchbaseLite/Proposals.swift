import Fleece
import Roost
import RoostBLIP
import RoostSync

/// `proposeChanges`: which of a client's revisions may be sent.
struct Proposals: Sendable {
    let target: DatabaseContext
    /// The most revisions in one message; Couchbase Lite proposes 200.
    private static let mostProposals = 10_000

    func answer(_ request: BLIPSession.Request) async throws -> BLIPSession.Answer {
        let memory = target.context.memory
        let text = try await memory.collect(
            request.body, limit: target.context.router.options.longestJSON, length: nil)
        guard let items = try await target.context.parse(text).root.array, items.count <= Self.mostProposals
        else { throw BLIPFailure(400, "The proposals must be an array of at most \(Self.mostProposals).") }
        let sight = try target.sight(of: try target.collection.snapshot())
        let tellsRevision = request.properties.flag("conflictIncludesRev")
        var answers: [JSON] = []
        var count = 0
        for item in items {
            try Task.checkCancellation()
            let verdict = try verdict(on: item, sight)
            if case .conflict(let revision) = verdict, tellsRevision {
                answers.append(["status": 409, "rev": .string(revision)])
            } else {
                answers.append(.number(verdict.status))
            }
            if verdict.status != 0 { count = answers.count }
        }
        // Zeros at the end go without saying.
        let body = JSON.array(Array(answers.prefix(count))).bytes
        return .message(BLIPMessage(["blobs": "true"], body: body), .compressed)
    }

    private enum Verdict {
        case wanted
        case known
        case conflict(String)
        case refused(Int)

        var status: Int {
            switch self {
            case .wanted: 0
            case .known: 304
            case .conflict: 409
            case .refused(let status): status
            }
        }
    }

    /// - Parameter item: `[document, revision, the server's revision that it replaces, size]`.
    private func verdict(on item: FleeceValue, _ sight: Sight) throws -> Verdict {
        guard let id = item[0].string, PushedRevision.isPossible(id) else { return .refused(400) }
        guard let winner = try sight.winningRevision(id) else { return .wanted }
        let current = TreeNames.text(winner.revision)
        if item[1].string.map({ current.isIdentical(to: $0) }) == true { return .known }
        let parent = item[2].string ?? ""
        if parent.isEmpty ? winner.isDeleted : current.isIdentical(to: parent) { return .wanted }
        return .conflict(current)
    }
}
