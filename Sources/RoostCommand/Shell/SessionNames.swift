import Fleece
import Roost
import RoostQuery

/// The names that there are in the database of a session: nothing where it can't be asked.
struct SessionNames {
    private let session: ShellSession
    private static let sampledDocuments = 100
    private static let mostIDs = 50
    private static let deepest = 3

    init(_ session: ShellSession) { self.session = session }

    private var present: DocumentCollection? { try? session.present() }

    var collections: [String] { (try? CollectionNames.all(of: session.database)) ?? [] }
    var valueIndexes: [String] { (try? present?.valueIndexes().map(\.name)) ?? [] }
    var textIndexes: [String] { (try? present?.textIndexes().map(\.name)) ?? [] }

    /// The views as `view` takes them.
    var views: [String] {
        guard let collection = present, let designs = try? collection.snapshot().documents(prefix: "_design/")
        else {
            return []
        }
        return designs.flatMap { design in
            let views = (try? collection.viewNames(of: design.id)) ?? []
            return views.map { "\(design.id.dropFirst("_design/".count))/\($0)" }
        }
    }

    /// The IDs of documents that begin so, the first of them.
    func documents(_ prefix: String) -> [String] {
        guard let snapshot = try? present?.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(prefix: prefix, limit: Self.mostIDs))
        else { return [] }
        var ids: [String] = []
        while let document = try? cursor.next() { ids.append(document.id) }
        return ids
    }

    /// The paths of properties, as queries take them without quotation marks, in some documents of a collection.
    func paths(in collection: String?) -> [String] {
        var paths: Set<String> = ["_id"]
        forEachSample(of: collection) { Self.add($0.value, "", 1, to: &paths) }
        return Array(paths)
    }

    /// The names of properties of some documents of a collection.
    func properties(in collection: String?) -> Set<String> {
        var names: Set<String> = []
        forEachSample(of: collection) { document in
            for member in document.value.dictionary ?? .empty { names.insert(member.key) }
        }
        return names
    }

    private func forEachSample(of name: String?, _ body: (Document) -> Void) {
        var collection = present
        if let name, name != "_" {
            collection = try? session.database.collection(named: name, createIfMissing: false)
        }
        guard let snapshot = try? collection?.snapshot(),
            let cursor = try? snapshot.cursor(DocumentSelection(limit: Self.sampledDocuments))
        else { return }
        while let document = try? cursor.next() { body(document) }
    }

    private static func add(_ value: FleeceValue, _ prefix: String, _ depth: Int, to paths: inout Set<String>)
    {
        for member in value.dictionary ?? .empty {
            guard member.key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { continue }
            paths.insert(prefix + member.key)
            if depth < deepest { add(member.value, prefix + member.key + ".", depth + 1, to: &paths) }
        }
    }
}
