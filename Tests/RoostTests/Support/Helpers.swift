import Foundation
import Roost

extension DocumentCollection {
    /// Adds a revision that was made elsewhere.
    @discardableResult
    func insert(_ id: String, _ history: String, deleted: Bool = false, json: String = "{}") throws -> Bool {
        let history = try ids(history)
        return try database.write { batch in
            try batch.insert(json: json, id: id, history: history, isDeleted: deleted, in: self)
        }
    }

    /// The revisions of all leaves, in winning order.
    func leaves(_ id: String) throws -> [String] {
        try snapshot().openRevisions(of: id).map { "\($0.revision)\($0.isDeleted ? "!" : "")" }
    }
}

/// Waits until `condition` holds; `false` when it does not within ten seconds.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    for _ in 0..<1000 {
        if try condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return false
}
