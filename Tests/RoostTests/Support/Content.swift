import Roost

extension CollectionSnapshot {
    /// All that the collection says of its documents, as text that can be compared.
    func content() throws -> [String] {
        var selection = DocumentSelection()
        selection.includesDeleted = true
        var lines = try documents(selection).flatMap { document in
            ["\(document) \(document.sequence) \(document.isConflicted)"]
                + (try openRevisions(of: document.id).map { "  leaf \($0)" })
                + (try revisions(of: document.id).map { "  \($0.id) of \($0.parent?.description ?? "-")" })
        }
        lines += try changes().map { "\($0)" }
        lines += try localDocumentNames.map { "\($0): \(try localDocument($0)?.json() ?? "?")" }
        lines += try expirations().map { "\($0.id) until \($0.date.timeIntervalSince1970)" }
        return lines + ["\(count) \(lastSequence)"]
    }
}

extension DocumentCollection {
    /// Makes one random change; what it is follows from the generator alone.
    func change(_ batch: WriteTransaction, _ generator: inout SeededGenerator) throws {
        let id = "d\(Int.random(in: 0..<8, using: &generator))"
        let number = Int.random(in: 0..<1000, using: &generator)
        let json = #"{"v":\#(number),"text":"\#(String(repeating: "x", count: number))"}"#
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: try batch.delete(id, in: self)
        case 1: try batch.purge(id, in: self)
        case 2: try batch.resolve(id, in: self)
        case 3: try batch.saveLocalDocument(json: json, name: id, in: self)
        case 4: try batch.setExpiration(.init(timeIntervalSince1970: 4e9 + Double(number)), of: id, in: self)
        case 5, 6:
            let digest = String(number % 16, radix: 16)
            let history = try ids("2-\(digest)\(digest) 1-aa")
            // Another branch may have given the revision a parent already.
            _ = try? batch.insert(json: json, id: id, history: history, in: self)
        default: try batch.save(json: json, id: id, in: self)
        }
    }
}
