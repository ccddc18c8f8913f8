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
    func paths(in name: String?) -> [String] {
        var paths: Set<String> = ["_id"]
        forEachSample(of: collection(name)) { Self.add($0.value, "", 1, to: &paths) }
        return Array(paths)
    }

    /// The names of properties of some documents of a collection.
    func properties(in name: String?) -> Set<String> { properties(of: collection(name)) }

    private func properties(of collection: DocumentCollection?) -> Set<String> {
        var names: Set<String> = []
        forEachSample(of: collection) { document in
            for member in document.value.dictionary ?? .empty { names.insert(member.key) }
        }
        return names
    }

    /// A sentence for each property that a query asks for and some documents of its collection have not, but one of a like name.
    func misspelt(in query: DatabaseQuery) -> [String] {
        query.properties.flatMap { collection, names -> [String] in
            let known = properties(of: collection)
            return names.compactMap { name in
                guard !known.contains(name), !name.hasPrefix("_") else { return nil }
                let suggestion = Suggestion.text(for: name, among: known)
                guard !suggestion.isEmpty else { return nil }
                return "None of the first \(Self.sampledDocuments) documents has \(name)\(suggestion)"
            }
        }
    }

    /// The collection that a query calls so; the present one without a name.
    private func collection(_ name: String?) -> DocumentCollection? {
        guard let name, name != "_" else { return present }
        return try? session.database.collection(named: name, createsIfMissing: false)
    }

    private func forEachSample(of collection: DocumentCollection?, _ body: (Document) -> Void) {
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
