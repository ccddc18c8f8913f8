import Roost

/// A query: what to take from where, under which condition, grouped and ordered how.
struct Select: Hashable, Sendable {
    var isDistinct = false
    /// Whether a row is the value of the only column, and not an object: SELECT VALUE.
    var isRaw = false
    /// What a row consists of; `_id` and `_sequence` when it is empty.
    var columns: [Column] = []
    /// Where rows come from; the default collection when it is empty.
    var sources: [Source] = []
    var condition: Expression?
    var groups: [Expression] = []
    var having: Expression?
    /// What WINDOW has.
    var windows: [NamedWindow] = []
    var order: [Ordering] = []
    var limit: Expression?
    var limitPlace = Place.unknown
    var offset: Expression?
    var offsetPlace = Place.unknown
    /// Which indexes may be used, and whether they are rather than reading all documents.
    var indexUse = IndexUse.cheapest

    /// Which indexes are used.
    enum IndexUse: Hashable, Sendable {
        /// Whatever takes least.
        case cheapest
        /// The one that takes least of those there are.
        case any
        /// This one.
        case named(String)

        /// Whether an index may be used; one of what a selector matches only where it is named, as in CouchDB.
        func allows(_ index: ValueIndex) -> Bool {
            if case .named(let wanted) = self {
                ByteKey(wanted) == ByteKey(index.name)
            } else {
                index.selector == nil
            }
        }
    }

    /// A part of a row.
    struct Column: Hashable, Sendable {
        var value: Expression
        var alias: String?
        /// Whether it was written as `*` or `name.*`: tables have its members as columns of their own.
        var isStar = false
        var place = Place.unknown
    }

    /// Where rows come from.
    struct Source: Hashable, Sendable {
        var origin: Origin
        var alias: String
        var join = Join.first
        /// ON.
        var condition: Expression?
        var place = Place.unknown
    }

    /// What a source yields rows of.
    indirect enum Origin: Hashable, Sendable {
        case collection(String, scope: String)
        case select(Select)
        /// The rows of two queries, put together.
        case combined(Select, SetOperation, Select)
        /// The elements of an array of the sources before.
        case elements(Expression)
    }

    /// How the rows of two queries are put together.
    enum SetOperation: String, Hashable, Sendable {
        case unionAll = "UNION ALL"
        case union = "UNION"
        case intersect = "INTERSECT"
        case except = "EXCEPT"
    }

    /// How a source is joined to those before it.
    enum Join: String, Hashable, Sendable {
        case first, inner, left, cross
    }

    /// One of the things that rows are ordered by.
    struct Ordering: Hashable, Sendable {
        var value: Expression
        var isDescending = false
        /// Where null and missing values come; as the least of all values unless it is given.
        var nulls: Nulls?

        enum Nulls: Hashable, Sendable { case first, last }
    }

    /// A window that has a name.
    struct NamedWindow: Hashable, Sendable {
        let name: String
        let window: Window
    }
}
