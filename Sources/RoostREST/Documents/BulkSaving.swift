import Fleece
import Roost
import RoostCrypto
import RoostWire

/// `_bulk_docs`: each document for itself.
///
/// They are parsed, judged and written some at a time, each part with one sync, so that the memory that is needed besides the body is that
/// of a part, and the writes of others come between. A body with something that is no document is refused before anything is written.
/// Of a body with many documents, the answer begins when the first part is saved.
actor BulkSaving: BodyStream {
    /// A document and what is known of it.
    private struct Item: Sendable {
        /// Its place in the body.
        let index: Int
        let id: String
        var document: RequestDocument
        /// What came of asking whether it may be saved.
        var judgement: Result<Judgement, HTTPFailure>
    }

    /// What became of one document.
    private enum Outcome: Sendable {
        case saved(String, String)
        case failed(String, String?, HTTPFailure)

        /// Whether the user may not save it.
        var isRefused: Bool {
            guard case .failed(_, _, let failure) = self else { return false }
            return failure.status == 403 || failure.status == 401
        }

        var json: JSON {
            switch self {
            case .saved(let id, let revision):
                return ["ok": true, "id": .string(id), "rev": .string(revision)]
            case .failed(let id, let revision, let failure):
                var members: [(String, JSON)] = [("id", .string(id))]
                if let revision { members.append(("rev", .string(revision))) }
                return .object(
                    members + [("error", .string(failure.error)), ("reason", .string(failure.reason))])
            }
        }
    }

    /// How many documents, and about how many bytes of them, are dealt with at once.
    private static let mostDocuments = 2_000
    private static let mostBytes = 4 << 20
    /// What a document takes besides, as the list of their places grows and with its outcome.
    private static let bytesPerPlace = 32
    /// What a byte takes that is parsed, in the documents made of it and in copies.
    private static let bytesPerByte = 4
    /// How long one write may take that others wait for, before it is ended and another one begun.
    private static let longestWrite = Duration.milliseconds(10)
    /// How many documents that were refused are kept to be asked about once more when others are saved, and how many bytes of the answer
    /// wait for that.
    private static let mostRefused = 10_000
    private static let mostWaiting = 8 << 20

    private let target: DatabaseContext
    private let saving: DocumentSaving
    private let text: BulkText
    private let newEdits: Bool
    /// Where the documents stand in the text, and which of them are dealt with at once.
    private let places: [Int]
    /// Where the list of them ends.
    private let end: Int
    private let parts: [Range<Int>]
    private var nextPart = 0
    /// The rows of the answer that have not been sent, by the documents' places; empty for documents that get no row.
    private var rows: [Int: [UInt8]] = [:]
    private var waitingBytes = 0
    /// The first document whose row has not been sent.
    private var told = 0
    private var hasTold = false
    private var hasEnded = false
    /// Documents that were refused, in their order, by their places in the body. They are parsed again when they are asked about again.
    private var refused: [(index: Int, id: String)] = []

    /// Saves what the body of a request says.
    static func save(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        try context.checkIsJSON()
        let bytes = try await context.bytes()
        // The places of the documents, and what is parsed of them at once.
        let values = JSONCost(bytes).values
        try await context.memory.reserve(values * bytesPerPlace + min(bytes.count, mostBytes) * bytesPerByte)
        let text = try BulkText(bytes)
        let (places, end): ([Int], Int)
        switch text.documents {
        case .missing: throw HTTPFailure.badRequest("POST body must include `docs` parameter.")
        case .noArray: throw HTTPFailure.badRequest("`docs` parameter must be an array.")
        case .array(let found, let foundEnd): (places, end) = (found, foundEnd)
        }
        guard let newEdits = text.options["new_edits"].map(\.root.bool) ?? true else {
            throw HTTPFailure.badRequest("`new_edits` parameter must be a boolean.")
        }
        if text.options["all_or_nothing"]?.root.bool == true {
            return try await context.stream(refusing(text, places, end: end), status: 417)
        }
        let bulk = BulkSaving(target, text, newEdits: newEdits, places, end: end)
        guard places.count > mostDocuments || text.length > mostBytes else {
            return HTTPResponse(
                201, headers: ["Content-Type": "application/json"], body: .bytes(try await bulk.collect()))
        }
        try await bulk.checkAll()
        return try await context.stream(bulk, status: 201)
    }

    /// The answer where all documents are to be saved or none, which is refused for each of them, as in CouchDB.
    private static func refusing(_ text: BulkText, _ places: [Int], end: Int) -> GeneratedBody {
        GeneratedBody {
            var index = 0
            return {
                guard index <= places.count else { return nil }
                var bytes: [UInt8] = index == 0 ? [UInt8(ascii: "[")] : []
                while index < places.count, bytes.count < 32 << 10 {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    let next = index + 1 < places.count ? places[index + 1] : end
                    try refused(text.document(at: places[index], before: next).root).json.write(to: &bytes)
                    index += 1
                }
                if index == places.count {
                    index += 1
                    bytes += "]\n".utf8
                }
                return bytes
            }
        }
    }

    /// What becomes of a document that is to be saved with all others or not at all.
    private static func refused(_ document: FleeceValue) -> Outcome {
        .failed(
            document["_id"].string ?? RandomText.hexadecimal(bytes: 16), document["_rev"].string,
            HTTPFailure(417, "not_implemented", "all_or_nothing is not supported"))
    }

    private init(_ target: DatabaseContext, _ text: BulkText, newEdits: Bool, _ places: [Int], end: Int) {
        self.target = target
        self.end = end
        self.text = text
        self.newEdits = newEdits
        self.places = places
        parts = Self.parts(places, text)
        saving = DocumentSaving(target)
    }

    /// - Throws: 400 for what is no document at all, or has no name it can have: an error of the whole request, as in CouchDB.
    private func checkAll() throws {
        for index in places.indices {
            try Task.checkCancellation()
            _ = try document(index)
        }
    }

    /// Saves documents until there is something to tell.
    func next() async throws -> [UInt8]? {
        while !hasEnded {
            try Task.checkCancellation()
            if nextPart < parts.count {
                try await save(parts[nextPart])
                nextPart += 1
            }
            // What gives access may come behind what needs it: a room that was edited after the messages in it.
            if nextPart == parts.count || waitingBytes > Self.mostWaiting { try await saveRefused() }
            let bytes = tell()
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }

    private func save(_ part: Range<Int>) async throws {
        var items: [Item] = []
        // Before anything is saved.
        let documents = try part.map { try document($0) }
        for (index, document) in zip(part, documents) {
            switch document {
            case .local(let name, let value): note(await saveLocal(name, value), index)
            case .ordinary(let id, let document):
                if let item = await prepared(index, id, document) { items.append(item) }
            case .unreadable(let outcome): note(outcome, index)
            }
        }
        try await write(try await judged(items), isLast: false)
    }

    private func saveRefused() async throws {
        var rest = refused[...]
        refused = []
        while !rest.isEmpty {
            var (items, length) = ([Item](), 0)
            while length < Self.mostBytes, let (index, id) = rest.popFirst() {
                let end = index + 1 < places.count ? places[index + 1] : nil
                length += text.length(from: places[index], to: end)
                guard case .ordinary(_, let document) = try document(index) else { continue }
                items.append(Item(index: index, id: id, document: document, judgement: .success(Judgement())))
            }
            try await write(try await judged(items), isLast: true)
        }
    }

    /// The places of documents that are dealt with at once.
    private static func parts(_ places: [Int], _ text: BulkText) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        for index in places.indices {
            let end = index + 1 < places.count ? places[index + 1] : nil
            guard
                end == nil || index + 1 - start == mostDocuments
                    || text.length(from: places[start], to: end) >= mostBytes
            else { continue }
            parts.append(start..<index + 1)
            start = index + 1
        }
        return parts
    }

    // MARK: Parsing

    private enum Parsed {
        case local(String, FleeceDocument)
        case ordinary(String, RequestDocument)
        /// What a replicator brings and nothing here can hold, such as one that is nested too deeply. It holds up none of the others.
        case unreadable(Outcome)
    }

    private func document(_ index: Int) throws -> Parsed {
        let place = places[index]
        let value: FleeceDocument
        do {
            value = try text.document(at: place, before: index + 1 < places.count ? places[index + 1] : end)
        } catch  where !newEdits {
            let rest = try text.readable(at: place).root
            guard let id = rest["_id"].string else { throw error }
            return .unreadable(
                .failed(id, rest["_rev"].string, DocumentSaving.failure(ofInserting: error)))
        }
        if let name = value.root["_id"].string?.removing(prefix: "_local/") { return .local(name, value) }
        let document = try RequestDocument(value.root)
        let id = document.id ?? RandomText.hexadecimal(bytes: 16)
        try RequestDocument.checkID(id)
        if !newEdits { try document.requireRevision() }
        return .ordinary(id, document)
    }

    private func prepared(_ index: Int, _ id: String, _ document: RequestDocument) async -> Item? {
        do {
            let document = try await saving.prepare(
                document, id: id, base: document.revision, isEdit: newEdits)
            return Item(index: index, id: id, document: document, judgement: .success(Judgement()))
        } catch {
            note(.failed(id, nil, HTTPFailure(error)), index)
            return nil
        }
    }

    private func saveLocal(_ name: String, _ value: FleeceDocument) async -> Outcome {
        let id = "_local/\(name)"
        do {
            let revision = try await LocalRoutes.save(target.served, target.localName(name), value.root)
            return .saved(id, "0-\(revision)")
        } catch {
            return .failed(id, nil, HTTPFailure(error))
        }
    }

    // MARK: Writing

    /// Judges documents against one snapshot.
    private func judged(_ items: [Item]) async throws -> [Item] {
        let moment = saving.asksAny ? try saving.moment() : nil
        var judged: [Item] = []
        judged.reserveCapacity(items.count)
        for var item in items {
            try Task.checkCancellation()
            do {
                let (judgement, document) = try await saving.admit(
                    item.document, item.id, isEdit: newEdits, base: item.document.revision, at: moment)
                item.judgement = .success(judgement)
                item.document = document
            } catch {
                // Whose request is over has nothing refused.
                try Task.checkCancellation()
                item.judgement = .failure(HTTPFailure(error))
            }
            judged.append(item)
        }
        return judged
    }

    /// Writes documents, in their order, in as few writes as leave others their turn. Those that have to be judged once more, since the
    /// documents before or others have changed what they were judged by, are written one by one behind.
    ///
    /// - Parameter isLast: Whether those that are refused are not asked about again.
    private func write(_ items: [Item], isLast: Bool) async throws {
        var outdated: [Item] = []
        var rest = items[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let (pending, newEdits, saving) = (rest, newEdits, saving)
            let outcomes = try await target.served.database.write(for: saving.work.owner) { batch in
                try Self.write(pending, newEdits: newEdits, saving, batch)
            }
            for (item, outcome) in zip(rest, outcomes) {
                guard let outcome else {
                    outdated.append(item)
                    continue
                }
                settle(item, outcome, isLast)
            }
            rest = rest.dropFirst(outcomes.count)
        }
        for item in outdated { settle(item, try await writeAlone(item), isLast) }
    }

    /// Writes documents until they are all written, or others should have a turn.
    ///
    /// - Returns: What became of those that were dealt with, the first of them; `nil` for one that has to be judged once more.
    private static func write(
        _ items: ArraySlice<Item>, newEdits: Bool, _ saving: DocumentSaving, _ batch: WriteTransaction
    ) throws -> [Outcome?] {
        try JudgedWrite.run(batch, saving) { write in
            let end = ContinuousClock.now + longestWrite
            var outcomes: [Outcome?] = []
            for item in items {
                outcomes.append(try outcome(of: item, newEdits: newEdits, saving, write))
                if outcomes.count % 16 == 0, batch.isWaitedFor, .now >= end { break }
            }
            return outcomes
        }
    }

    private static func outcome(
        of item: Item, newEdits: Bool, _ saving: DocumentSaving, _ write: JudgedWrite
    ) throws -> Outcome? {
        do {
            let judgement = try item.judgement.get()
            guard newEdits else {
                try saving.insert(item.document, id: item.id, judgement, in: write)
                return .saved(item.id, item.document.revision?.description ?? "")
            }
            let revision = try saving.save(
                item.document, id: item.id, base: item.document.revision, judgement, in: write)
            return .saved(item.id, revision.description)
        } catch is OutdatedJudgement {
            return nil
        } catch let failure as UnsettledChannels {
            throw failure
        } catch {
            return try failed(item, error, newEdits: newEdits)
        }
    }

    /// Writes a document in a write of its own.
    private func writeAlone(_ item: Item) async throws -> Outcome {
        do {
            guard newEdits else {
                try await saving.insertPrepared(item.document, id: item.id)
                return .saved(item.id, item.document.revision?.description ?? "")
            }
            let revision = try await saving.writePrepared(
                item.document, id: item.id, base: item.document.revision)
            return .saved(item.id, revision.description)
        } catch let failure as UnsettledChannels {
            throw failure
        } catch {
            try Task.checkCancellation()
            return try Self.failed(item, error, newEdits: newEdits)
        }
    }

    /// - Throws: what replicators ask again for when the whole request fails: the content of a stub, and what did not come to rest.
    private static func failed(_ item: Item, _ error: any Error, newEdits: Bool) throws -> Outcome {
        let failure = HTTPFailure(error)
        if failure.status == 412 || failure.status == 503 { throw failure }
        return .failed(item.id, newEdits ? nil : item.document.revision?.description, failure)
    }

    // MARK: Answering

    private func settle(_ item: Item, _ outcome: Outcome, _ isLast: Bool) {
        note(outcome, item.index)
        guard !isLast, outcome.isRefused, saving.isRouted, refused.count < Self.mostRefused else { return }
        refused.append((item.index, item.id))
    }

    private func note(_ outcome: Outcome, _ index: Int) {
        let isSilent = if !newEdits, case .saved = outcome { true } else { false }
        let row = isSilent ? [] : outcome.json.bytes
        waitingBytes += row.count - (rows.updateValue(row, forKey: index)?.count ?? 0)
    }

    /// The rows that can be sent in the order of the documents.
    private func tell() -> [UInt8] {
        var bytes: [UInt8] = []
        let end = refused.lazy.map { $0.index }.min() ?? .max
        while told < end, let row = rows.removeValue(forKey: told) {
            told += 1
            guard !row.isEmpty else { continue }
            bytes.append(UInt8(ascii: hasTold ? "," : "["))
            bytes += row
            hasTold = true
            waitingBytes -= row.count
        }
        if told == places.count {
            hasEnded = true
            bytes += (hasTold ? "]\n" : "[]\n").utf8
        }
        return bytes
    }
}
