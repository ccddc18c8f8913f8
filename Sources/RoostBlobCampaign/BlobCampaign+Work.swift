import Foundation
import Roost
import RoostBlobs
import RoostCampaign
import RoostSimulation
import RoostStorage

/// What a program does with documents and their blobs.
extension BlobCampaign {
    /// For how long a blob that was stored waits for its document, in microseconds.
    private static let patience: UInt64 = 3_600_000_000

    func work(_ database: Database) throws {
        let notes = try database.defaultCollection
        switch generator.next(below: 24) {
        case 0, 1: try compact(database)
        case 2, 3: try backUp(database)
        case 4:
            try storeBlob(database)
            // Its time may come, or not.
            if generator.chance(0.25) { simulation.clock.advance(by: Self.patience + 1) }
        case 5 where isEncrypted: try changeKey(database)
        case 6:
            if snapshots.count > 3 { snapshots.removeFirst() }
            snapshots.append((try notes.snapshot(), states.current))
        case 7, 8: try compareSnapshot(database)
        case 9: try compare(notes)
        case 10...13: try nameOldBlob(notes)
        default: try commit(notes)
        }
    }

    private func compare(_ notes: DocumentCollection) throws {
        statistics.comparisons += 1
        let model = try model(of: try notes.snapshot(), of: notes.database)
        guard model == states.current else {
            throw CampaignFault("the documents: \(model.difference(from: states.current))")
        }
    }

    private func compareSnapshot(_ database: Database) throws {
        guard !snapshots.isEmpty else { return }
        let (snapshot, expected) = snapshots.remove(at: generator.next(below: snapshots.count))
        let model = try model(of: snapshot, of: database)
        guard model == expected else {
            throw CampaignFault("a snapshot: \(model.difference(from: expected))")
        }
    }

    // MARK: Documents

    /// Makes one to three changes in a batch.
    func commit(_ notes: DocumentCollection) throws {
        var model = states.current
        var changes: [(WriteTransaction) throws -> Void] = []
        for _ in 0...generator.next(below: 3) { changes.append(try change(notes, &model)) }
        try write(notes, model) { batch in for change in changes { try change(batch) } }
    }

    private func write(
        _ notes: DocumentCollection, _ model: BlobModel, _ body: (WriteTransaction) throws -> Void
    ) throws {
        let attempt = states.attempt(model)
        try notes.database.write { batch in try body(batch) }
        states.acknowledge(attempt, isDurable: durability == .full)
        statistics.commits += 1
    }

    private func change(
        _ notes: DocumentCollection, _ model: inout BlobModel
    ) throws -> (WriteTransaction) throws -> Void {
        let id = "d\(generator.next(below: 12))"
        switch generator.next(below: 10) {
        case 0:
            model.documents[id] = nil
            return { _ = try $0.delete(id, in: notes) }
        case 1:
            model.documents[id] = nil
            return { _ = try $0.purge(id, in: notes) }
        case 2, 3:
            // The content comes within the document.
            let content = content()
            let digest = unsafe content.withUnsafeBytes { unsafe BlobDigest(of: $0) }.description
            contents[digest] = content
            model.documents[id] = ["inline": digest]
            let data = Data(content).base64EncodedString()
            return {
                try $0.save(json: #"{"_attachments":{"inline":{"data":"\#(data)"}}}"#, id: id, in: notes)
            }
        default:
            var names: [String: Blob] = [:]
            for name in ["", "photo", "sketch"] where generator.chance(0.5) {
                names[name] = try blob(notes.database, model)
            }
            model.documents[id] = names.mapValues(\.digest)
            return { batch in
                var draft = MutableDocument(id: id)
                for (name, blob) in names.sorted(by: { $0.key < $1.key }) {
                    if name.isEmpty {
                        draft["cover"] = blob.value
                    } else {
                        draft.attachments[name] = Attachment(blob)
                    }
                }
                try batch.save(&draft, in: notes, expecting: .any)
            }
        }
    }

    // MARK: Blobs

    /// One that a document names already, or a new one.
    private func blob(_ database: Database, _ model: BlobModel) throws -> Blob {
        let named = Set(model.documents.values.flatMap(\.values))
        let known = handles.filter { named.contains($0.blob.digest) }
        if generator.chance(0.3), !known.isEmpty { return known[generator.next(below: known.count)].blob }
        return try storeBlob(database)
    }

    @discardableResult
    private func storeBlob(_ database: Database) throws -> Blob {
        var options = BlobOptions()
        options.digest = generator.chance(0.3) ? .sha256 : .sha1
        options.compression = generator.chance(0.3) ? .always : .never
        let content = content()
        let blob = try database.saveBlob(content, options: options)
        contents[blob.digest] = content
        handles.removeAll { $0.blob.digest == blob.digest }
        if handles.count > 30 { handles.removeFirst() }
        handles.append((blob, life, simulation.clock.monotonic()))
        return blob
    }

    /// A few of them come again, so that the same blob is stored by several.
    private func content() -> [UInt8] {
        let kind = UInt8(generator.next(below: 40))
        let length = [3, 90, 700, 9_000][Int(kind) % 4] + Int(kind)
        return (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) ^ kind }
    }

    /// Names a blob that was stored some time ago: one that was stored in this life and within its time must be there, any other
    /// may have gone, and is refused then.
    private func nameOldBlob(_ notes: DocumentCollection) throws {
        guard !handles.isEmpty else { return }
        let (blob, stored, time) = handles[generator.next(below: handles.count)]
        let isKept = stored == life && simulation.clock.monotonic() - time < Self.patience
        var model = states.current
        model.documents["old"] = ["photo": blob.digest]
        var draft = MutableDocument(id: "old")
        draft.attachments["photo"] = Attachment(blob)
        do {
            try write(notes, model) { try $0.save(&draft, in: notes, expecting: .any) }
        } catch let error as DatabaseError where error.code == .missingStub {
            if isKept { throw CampaignFault("the blob \(blob.digest) did not wait for its document") }
        }
    }

    // MARK: Maintenance

    /// Compacts, which removes the blobs that nothing names, and goes on writing meanwhile.
    private func compact(_ database: Database) throws {
        say("    compacts")
        try beside(database) { progress in try database.compact(progress: progress) }
    }

    private func backUp(_ database: Database) throws {
        say("    backs up")
        var possible = backup ?? PossibleStates(BlobModel())
        let copied = states.current
        possible.attempt(copied)
        backup = possible
        backupKeys = backupKeys.filter { !keys.contains($0) } + keys
        try beside(database) { progress in try database.backup(to: Self.backupPath, progress: progress) }
        backup = PossibleStates(copied)
        backupKeys = keys
        hasBackup = true
        try readBackup(simulation.environment)
    }

    /// Does `body`, with commits whenever it tells its progress.
    private func beside<R>(
        _ database: Database, _ body: (@escaping ProgressHandler) throws -> R
    ) throws {
        let notes = try database.defaultCollection
        var failure: (any Error)?
        _ = try withoutActuallyEscaping({ [self] (_: WorkProgress) -> Bool in
            guard failure == nil, generator.chance(0.3) else { return true }
            do { try commit(notes) } catch { failure = error }
            return true
        }) { progress in try body { progress($0) } }
        if let failure { throw failure }
    }

    private func changeKey(_ database: Database) throws {
        let key = generator.next(below: 3)
        guard keys.count == 1, key != keys[0] else { return }
        say("    changes the key")
        keys.append(key)
        try database.changeKey(to: Self.key(key))
        keys = [key]
        states.settle()
    }
}
