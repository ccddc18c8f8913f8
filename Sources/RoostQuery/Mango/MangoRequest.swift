import Fleece
import Roost

/// A request to CouchDB's `_find`: a selector and what to do with the documents that it matches.
///
/// ```swift
/// let found = try notes.find(["selector": ["stars": ["$gt": 3]], "fields": ["title"], "limit": 10])
/// for document in found.documents { print(document) }
/// ```
struct MangoRequest {
    var select: Select
    /// The fields to answer; `nil` for whole documents.
    private(set) var fields: [Field]?
    /// The same where they are so many that they are taken out of whole documents.
    private(set) var projection: MangoProjection?
    /// What the columns behind that of a whole document are called in it.
    private(set) var metadata: [String] = []

    /// A field to answer.
    struct Field {
        let steps: [Step]
        /// Where a row has it, or what it is within.
        fileprivate(set) var column = 0
        /// The steps from there.
        fileprivate(set) var rest: ArraySlice<Step> = []
    }

    /// The index that is requested.
    private(set) var hint: MangoIndexHint?
    /// Whether another index, or none, may do.
    private var allowsFallback = true
    /// Whether an index is defined that CouchDB would take.
    private(set) var hasIndex = false
    /// What there is to say of the index that is requested.
    private(set) var warning: String?
    /// The fields of `sort`.
    private(set) var order: [[Step]] = []
    /// The selector in its normal form.
    let selector: MangoSelector
    /// What the selector says of fields.
    let known: MangoFields
    var withStatistics = false
    /// Whether to tell which revisions are in conflict with a document.
    private var withConflicts = false
    /// Members that CouchDB takes and that change nothing here.
    private static let ignored = ["update", "stable", "r", "w", "stale"]
    /// How many fields are looked for in an index, each as a column.
    private static let mostColumns = 32
    /// How many documents CouchDB answers when the request has no limit.
    private static let usualLimit = 25

    init(_ request: DocumentValue) throws(QueryError) {
        guard case .dictionary(let members) = request else {
            throw QueryError("A request is an object with a selector")
        }
        guard let given = members["selector"] else {
            throw QueryError("The request has no selector", word: "missing_required_key")
        }
        select = Select()
        selector = try MangoSelector(given)
        known = MangoFields(selector)
        let condition = try MangoCondition.expression(of: selector)
        // A search for words stops at the best, as long as nothing else is asked of them.
        select.condition = condition.hasMatch ? condition : .all([condition, Self.isOrdinary])
        var limit = Self.usualLimit
        for (name, value) in members where name != "selector" {
            switch name {
            case "limit": limit = try Self.number(value, name)
            case "skip": select.offset = .literal(.integer(Int64(try Self.number(value, name))))
            case "sort": try sort(by: value)
            case "fields": fields = try Self.fields(value)
            case "use_index": hint = try MangoIndexHint(value)
            case "execution_stats": withStatistics = try Self.flag(value, name)
            case "allow_fallback": allowsFallback = try Self.flag(value, name)
            case "conflicts": withConflicts = try Self.flag(value, name)
            case "update", "stable": _ = try Self.flag(value, name)
            case "r", "w":
                guard try Self.number(value, name) > 0 else {
                    throw QueryError("\(name) is greater than 0", word: "invalid_pos_integer")
                }
            case "bookmark":
                guard value.isNull || value.string == "" || value.string == "nil" else {
                    throw QueryError("Bookmarks are not known; go on with skip", word: "invalid_bookmark")
                }
            default:
                guard Self.ignored.contains(name) else {
                    let known =
                        Self.ignored + [
                            "selector", "limit", "skip", "sort", "fields", "use_index", "execution_stats",
                            "allow_fallback", "conflicts",
                        ]
                    throw QueryError(
                        "A request has no \(name.debugDescription)\(Suggestion.text(for: name, among: known))",
                        word: "invalid_key")
                }
            }
        }
        requireSorted()
        if select.order.isEmpty, let rank = Self.rank(of: select.condition) {
            select.order = [Select.Ordering(value: rank, isDescending: true)]
        }
        select.limit = .literal(.integer(Int64(limit)))
        answer()
    }

    /// Asks for what is answered: for some fields only these, so that an index that has them does without documents.
    private mutating func answer() {
        let looked: [MetaField] = [.id, .revisionID, .attachments] + (withConflicts ? [.conflicts] : [])
        // No column has an alias, which a selector and `sort` could mean by a property of that name.
        func add(_ value: Expression) { select.columns.append(Select.Column(value: value)) }
        guard var fields, fields.count <= Self.mostColumns else {
            projection = fields.map { MangoProjection($0.map { $0.steps.names[...] }) }
            fields = nil
            add(.path([], .unknown))
            for field in looked { add(.meta(field, alias: nil, .unknown)) }
            metadata = looked.map { $0 == .revisionID ? "_rev" : $0.propertyName }
            return
        }
        for index in fields.indices {
            fields[index].column = index
            guard let name = fields[index].steps.names.first, let meta = MetaField(propertyName: name) else {
                add(.path(fields[index].steps, .unknown))
                continue
            }
            fields[index].rest = fields[index].steps.dropFirst()
            // What else there is to know of a document is none of its fields.
            add(looked.contains(meta) ? .meta(meta, alias: nil, .unknown) : .missing)
        }
        self.fields = fields
    }

    /// Finds only documents that have all fields of `sort`, as CouchDB does, which reads them from an index of these fields.
    private mutating func requireSorted() {
        let presence = order.filter { $0 != .documentID && $0 != .revision }.map {
            Expression.test(MangoCondition.field($0), .missing, isNegated: true)
        }
        guard !presence.isEmpty else { return }
        select.condition = .all([select.condition].compactMap(\.self) + presence)
    }

    /// Finds nothing where the selector is an empty list of conditions. To be called last.
    mutating func limitEmptyList() {
        if selector.isEmptyList { select.limit = .literal(.integer(0)) }
    }

    /// Forgets how well words fit, which all documents decide together: the order of any two is to follow from these two. Conflicts may
    /// be with revisions that the reader may not see.
    ///
    /// - Throws: where it asks for conflicts.
    mutating func limit() throws(QueryError) {
        select.order.removeAll(where: \.isRank)
        let expressions = [select.condition].compactMap(\.self) + select.order.map(\.value)
        guard !withConflicts, !expressions.contains(where: { $0.mentions(.conflicts) }) else {
            throw QueryError("Conflicts are told to those who see all revisions")
        }
    }

    /// Has the documents come by an index, in its order, where CouchDB would take one. One that is requested answers the documents in it
    /// only.
    ///
    /// - Throws: where no index will do and the request wants no other way.
    mutating func use(_ indexes: [MangoIndex]) throws(QueryError) {
        guard select.condition?.hasMatch != true else { return }
        try judge(indexes)
        let chosen = hint.flatMap { hint in suitable(indexes).first { hint.names($0) } }
        let candidates =
            chosen.map { [$0] } ?? known.usable(indexes, sortedBy: order).filter { !$0.filter.exists }
        guard let index = candidates.first else { return }
        hasIndex = true
        if chosen != nil { try narrow(to: index) }
        if let name = index.valueIndex?.name { select.indexUse = chosen == nil ? .any : .named(name) }
        order(by: candidates)
    }

    /// The indexes that have all documents that match, those without a field of `sort` aside, and that are in its order.
    func suitable(_ indexes: [MangoIndex]) -> [MangoIndex] {
        known.usable(indexes, sortedBy: order).filter { isInOrder($0) }
    }

    /// Whether an index is in the order of `sort`.
    func isInOrder(_ index: MangoIndex) -> Bool { known.further(index, after: order) != nil }

    /// Finds only documents that are in an index.
    private mutating func narrow(to index: MangoIndex) throws(QueryError) {
        var parts = [select.condition].compactMap(\.self)
        if let filter = DocumentValue(index.filter) {
            parts.append(try MangoCondition.expression(of: try MangoSelector(filter)))
        }
        for path in known.missing(index) {
            parts.append(.test(MangoCondition.field(path), .missing, isNegated: true))
        }
        select.condition = .all(parts)
    }

    /// Has documents that the order does not tell apart come as the first of some indexes has them that is in this order, so that
    /// it can be read as it is.
    private mutating func order(by indexes: [MangoIndex]) {
        guard order.count == select.order.count,
            let further = indexes.lazy.compactMap({ [known, order] in known.further($0, after: order) }).first
        else { return }
        let isDescending = select.order.last?.isDescending ?? false
        for field in further {
            select.order.append(
                Self.ordering(by: field, isDescending: isDescending))
        }
    }

    /// Sees to what the request says of indexes that won't do.
    private mutating func judge(_ indexes: [MangoIndex]) throws(QueryError) {
        let suitable = suitable(indexes)
        if let hint {
            guard !suitable.contains(where: hint.names) else { return }
            guard allowsFallback else { throw QueryError(DatabaseError(.noIndex, hint.refusal)) }
            warning = hint.warning
        } else if !allowsFallback, !suitable.contains(where: { !$0.filter.exists }) {
            throw QueryError(
                DatabaseError(.noIndex, "You must specify an index with the `use_index` parameter."))
        }
    }

    /// Design documents are not among what is found, as in CouchDB.
    private static let isOrdinary = Expression.like(
        .meta(.id, alias: nil, .unknown), .literal("\\_design/%"), isNegated: true)

    /// Has documents that nothing else tells apart come by their IDs, and not as the index has them that is read: which one that is
    /// depends on `limit` and `skip`, and pages are to go on where others end. Documents of the same rank come so anyway.
    mutating func orderByIDs() {
        guard !select.order.contains(where: { $0.isRank || $0.field == .documentID }) else { return }
        select.order.append(
            Select.Ordering(
                value: .meta(.id, alias: nil, .unknown),
                isDescending: select.order.last?.isDescending ?? false))
    }

    /// How well documents fit the first `$text` that all of them must meet.
    private static func rank(of condition: Expression?) -> Expression? {
        for case .match(let index, _, _) in condition?.conjuncts.lazy.map(\.uncollated) ?? [] {
            return .rank(index: index)
        }
        return nil
    }

    private static func flag(_ value: DocumentValue, _ name: String) throws(QueryError) -> Bool {
        guard case .bool(let flag) = value else {
            throw QueryError("\(name) is true or false", word: "invalid_boolean")
        }
        return flag
    }

    private static func number(_ value: DocumentValue, _ name: String) throws(QueryError) -> Int {
        guard let number = value.int, number >= 0 else {
            throw QueryError("\(name) is a whole number, not negative", word: "invalid_non_neg_integer")
        }
        return number
    }

    private static func fields(_ value: DocumentValue) throws(QueryError) -> [Field]? {
        guard case .array(let names) = value else {
            throw QueryError("fields is an array of names", word: "invalid_fields")
        }
        var result: [Field] = []
        for name in names {
            guard let text = name.string else {
                throw QueryError("fields is an array of names", word: "invalid_field")
            }
            result.append(Field(steps: try MangoSelector.steps(text)))
        }
        return result.isEmpty ? nil : result
    }

    /// `["a", {"b": "desc"}]`; all in one direction, as CouchDB has it.
    private mutating func sort(by value: DocumentValue) throws(QueryError) {
        guard case .array(let items) = value else {
            throw QueryError("sort is an array of fields", word: "invalid_sort_json")
        }
        guard items.count <= MangoIndex.mostFields else {
            throw QueryError("sort has at most \(MangoIndex.mostFields) fields", word: "invalid_sort_json")
        }
        for item in items {
            var (name, direction) = (item.string, "asc")
            if case .dictionary(let members) = item, members.count == 1,
                let member = members.first(where: { _ in true })
            {
                name = member.key
                direction = member.value.string ?? ""
            }
            guard let name, direction == "asc" || direction == "desc" else {
                throw QueryError(
                    "Each item of sort is a field, or {field: \"asc\" or \"desc\"}",
                    word: "invalid_sort_field")
            }
            let path = try MangoSelector.steps(name)
            order.append(path)
            select.order.append(Self.ordering(by: path, isDescending: direction == "desc"))
        }
        guard Set(select.order.map(\.isDescending)).count <= 1 else {
            throw QueryError("All fields of sort go in the same direction", word: "unsupported_mixed_sort")
        }
    }

    private static func ordering(by path: [Step], isDescending: Bool) -> Select.Ordering {
        let field = MangoCondition.field(path)
        // Documents are stored in the order of their IDs' bytes.
        return Select.Ordering(
            value: path == .documentID ? field : .collate(CollationOptions(isUnicode: true), field),
            isDescending: isDescending)
    }
}

extension Select.Ordering {
    /// Whether it orders by how well words fit.
    fileprivate var isRank: Bool { if case .rank = value { true } else { false } }

    /// The field that it orders by.
    fileprivate var field: [Step]? {
        if case .path(let steps, _) = value.uncollated { steps } else { nil }
    }
}

// MARK: - MangoProjection

/// The fields of a document that a request selects, as a tree of their paths: a document is scanned once, however many fields there are.
struct MangoProjection {
    /// Whether the whole value is selected.
    private var isWhole = false
    private var members = NamedValues<MangoProjection>()

    private init() {}

    /// The tree of some paths.
    init(_ paths: [ArraySlice<String>]) {
        for path in paths { add(path) }
    }

    /// Selects a field. O(length of the path).
    private mutating func add(_ path: ArraySlice<String>) {
        guard let name = path.first else {
            isWhole = true
            return
        }
        if members[name] == nil { members[name] = MangoProjection() }
        members[name]?.add(path.dropFirst())
    }

    /// The selected parts of a value, within the objects that lead to them; `nil` where the value has none of them.
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
