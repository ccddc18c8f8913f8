import Synchronization

/// The reductions that a store knows, by name. More may come while the store is open, from any thread.
public final class ReductionRegistry: Sendable, ExpressibleByArrayLiteral {
    private let known: Mutex<[String: Reduction]>

    /// A registry of the given reductions; of those with one name the first counts.
    public init(_ reductions: [Reduction] = []) {
        known = Mutex(Dictionary(reductions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    /// A registry of the given reductions.
    public convenience init(arrayLiteral elements: Reduction...) { self.init(elements) }

    /// The reduction of that name, `nil` where it is not known.
    public subscript(name: String) -> Reduction? { known.withLock { $0[name] } }

    /// Adds a reduction. One of a name that is known already stays, as the nodes hold what it made.
    public func add(_ reduction: Reduction) {
        known.withLock { if $0[reduction.name] == nil { $0[reduction.name] = reduction } }
    }
}

/// The reduction of a tree, which was made with its name; the function may come later.
struct TreeReduction: Sendable {
    let name: String
    let registry: ReductionRegistry

    /// `nil` for a tree without one.
    init?(_ name: String, in registry: ReductionRegistry) {
        guard !name.isEmpty else { return nil }
        self.name = name
        self.registry = registry
    }

    var function: Reduction? { registry[name] }
}
