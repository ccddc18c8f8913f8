import Foundation
import Roost

@testable import RoostSync

/// Some databases in a directory that goes with the value.
final class Peers {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "roost-sync-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name).roost" }

    /// Loses the content of all attachments.
    func removeBlobs(of name: String) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: path(name) + "/blobs")
        where file.hasSuffix(".blob") {
            try FileManager.default.removeItem(atPath: path(name) + "/blobs/" + file)
        }
    }

    func open(_ name: String, key: EncryptionKey? = nil) throws -> Database {
        var options = DatabaseOptions()
        options.durability = .relaxed(interval: 3600)
        options.key = key
        return try Database.open(path(name), options: options)
    }
}

extension DocumentCollection {
    /// All that a replication is to carry, as text that can be compared.
    func replicated() throws -> [String] {
        let snapshot = try snapshot()
        var selection = DocumentSelection()
        selection.includesDeleted = true
        return try snapshot.documents(selection).flatMap { document in
            try snapshot.openRevisions(of: document.id).map { leaf in
                let attachments = leaf.attachments.map { "\($0.key): \($0.value.digest)" }
                let history = try snapshot.history(of: leaf.id, revision: leaf.revision)
                return "\(leaf.id) \(history) \(leaf.isDeleted) \(leaf.json()) \(attachments)"
            }
        }
    }

    // In their synchronous forms, which tests that are asynchronous would not get otherwise.

    func put(_ id: String, _ json: String = "{}") throws { try save(json: json, id: id) }

    func put(_ draft: MutableDocument) throws {
        var draft = draft
        try save(&draft)
    }

    func find(_ id: String) throws -> Document? { try document(id) }

    func remove(_ id: String) throws { try delete(id) }

    func putLocal(_ name: String, _ json: String) throws { try saveLocalDocument(json: json, name: name) }

    @discardableResult
    func insert(_ id: String, _ history: [String], json: String = "{}", deleted: Bool = false) throws -> Bool
    {
        let history = try history.map { try RevisionID(validating: $0) }
        return try database.write { batch in
            try batch.insert(json: json, id: id, history: history, isDeleted: deleted, in: self)
        }
    }
}

extension Database {
    // In their synchronous forms.

    func isClean() throws -> Bool { try check().isClean }

    func blob(_ bytes: [UInt8], type: String? = nil) throws -> Blob { try saveBlob(bytes, contentType: type) }
}

extension ReplicationOptions {
    init(
        _ direction: Direction, continuous: Bool = false,
        _ change: (inout ReplicationOptions) -> Void = { _ in }
    ) {
        self.init()
        self.direction = direction
        isContinuous = continuous
        retry.first = 0
        retry.longest = 0
        change(&self)
    }
}
