import Roost

/// The fields of a document that a request asks for: a tree of their paths, so that a document is gone through once, however many there
/// are.
struct MangoProjection {
    /// Whether all of the value is asked for.
    private var isWhole = false
    private var members = NamedValues<MangoProjection>()

    private init() {}

    /// The tree of some paths.
    init(_ paths: [ArraySlice<String>]) {
        for path in paths { add(path) }
    }

    /// Asks for a field. O(length of the path).
    private mutating func add(_ path: ArraySlice<String>) {
        guard let name = path.first else {
            isWhole = true
            return
        }
        if members[name] == nil { members[name] = MangoProjection() }
        members[name]?.add(path.dropFirst())
    }

    /// What of a value is asked for, in the objects on the way to it; `nil` where nothing of that is there.
    func part(of value: DocumentValue) -> DocumentValue? {
        guard !isWhole else { return value }
        guard case .dictionary(let present) = value else { return nil }
        var found = NamedValues<DocumentValue>()
        for (name, member) in members {
            if let part = present[name].flatMap({ member.part(of: $0) }) { found[name] = part }
        }
        return found.isEmpty ? nil : .dictionary(found)
    }
}
