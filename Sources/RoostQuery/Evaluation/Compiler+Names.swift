import Roost
import RoostBytes

extension Compiler {
    /// A path that begins with a variable, an alias, a column of the result or a property.
    func path(_ steps: [Step], _ place: Place) throws(QueryError) -> Evaluation {
        guard case .key(let name)? = steps.first, let meaning = scope.meaning(of: name) else {
            return try property(try onlySource(steps, place), steps)
        }
        let rest = Array(steps.dropFirst())
        switch meaning {
        case .source(let number): return try property(number, rest)
        case .variable(let number): return member({ $0.variable(number) }, rest)
        case .column(let expression): return member(try compile(expression), rest)
        }
    }

    /// The source and the steps within it that a path leads over; `nil` when it leads elsewhere.
    func sourcePath(_ expression: Expression) -> (source: Int, steps: [Step])? {
        guard case .path(let steps, _) = expression else { return nil }
        if case .key(let name)? = steps.first, let meaning = scope.meaning(of: name) {
            guard case .source(let number) = meaning else { return nil }
            return (number, Array(steps.dropFirst()))
        }
        guard scope.ownSources.count == 1 else { return nil }
        return (scope.ownSources[0].number, steps)
    }

    func variable(_ name: String, _ steps: [Step], _ place: Place) throws(QueryError) -> Evaluation {
        guard case .variable(let number)? = scope.meaning(of: name) else {
            throw QueryError(
                "There is no variable ?\(name)\(Suggestion.text(for: name, among: scope.knownNames))",
                at: place.offset)
        }
        return member({ $0.variable(number) }, steps)
    }

    /// The source that a property without an alias belongs to.
    private func onlySource(_ steps: [Step], _ place: Place) throws(QueryError) -> Int {
        if scope.ownSources.count == 1 { return scope.ownSources[0].number }
        let aliases = scope.ownSources.map(\.alias).joined(separator: ", ")
        guard case .key(let name)? = steps.first else {
            throw QueryError(
                "Several sources are joined: say whose document is meant, as in \(aliases)", at: place.offset)
        }
        guard !scope.ownSources.isEmpty else {
            throw QueryError(
                "\(name) names a property, and there is no document here. Write a value, a text in quotation marks or a $parameter",
                at: place.offset)
        }
        throw QueryError(
            "\(name) is no name of a source, and with several of them a path begins with one: \(aliases)"
                + Suggestion.text(for: name, among: scope.ownSources.map(\.alias)), at: place.offset)
    }

    /// The source that META() speaks of.
    func source(_ alias: String?, _ place: Place) throws(QueryError) -> Int {
        guard let alias, alias != "_doc" || scope.meaning(of: alias) != nil else {
            let sources = scope.ownSources.filter { sourceKinds[$0.number] == .collection }
            guard sources.count == 1 else {
                throw QueryError(
                    "META() must say which source is meant: \(sources.map { "META(\($0.alias))" }.joined(separator: ", "))",
                    at: place.offset)
            }
            return sources[0].number
        }
        guard case .source(let number)? = scope.meaning(of: alias) else {
            throw QueryError(
                "There is no source \(alias)\(Suggestion.text(for: alias, among: scope.ownSources.map(\.alias)))",
                at: place.offset)
        }
        return number
    }

    /// A path into the row of a source.
    func property(_ source: Int, _ steps: [Step]) throws(QueryError) -> Evaluation {
        if case .key(let name)? = steps.first, sourceKinds[source] == .collection,
            let field = MetaField(propertyName: name)
        {
            return member(try meta(field, source), Array(steps.dropFirst()))
        }
        guard !steps.isEmpty else { return ofFirstRow(source, .properties) { $0.root(source) } }
        let number = program.path(source, steps)
        return ofFirstRow(source, .path(number)) { $0.value(ofPath: number) }
    }

    /// What META() knows of the row of a source.
    func meta(_ field: MetaField?, _ source: Int) throws(QueryError) -> Evaluation {
        guard sourceKinds[source] == .collection else {
            throw QueryError(
                "META() knows documents of collections, and nothing of elements and results of other queries")
        }
        if field == nil || field == .deleted { noteDeletedAsked(of: source) }
        guard let field else { return ofFirstRow(source, .metadata(.all)) { Metadata.all($0, source) } }
        guard !field.isLookedUp else {
            let collection = sourceCollections[source]
            return ofFirstRow(source, .metadata(.all)) { $0.lookUp(field, source, collection) }
        }
        return ofFirstRow(source, .metadata(field == .id ? .id : .all)) { Metadata.value(field, $0, source) }
    }

    /// Where groups are looked at, the value for the first row of a group.
    func ofFirstRow(
        _ source: Int, _ part: SourceUse.Part, _ evaluation: @escaping Evaluation
    ) -> Evaluation {
        noteUse(part, of: source)
        guard let grouping = grouping(of: source) else { return evaluation }
        let slot = grouping.addFirst(evaluation, self)
        return { $0.aggregate(slot) }
    }

    /// A path into whatever `value` yields.
    func member(_ value: @escaping Evaluation, _ steps: [Step]) -> Evaluation {
        guard !steps.isEmpty else { return value }
        let steps = steps.map(program.resolved)
        return { frame in
            var result = value(frame)
            for step in steps {
                var place: UInt32 = 0
                result = step.value(in: result, near: &place)
            }
            return result
        }
    }
}

/// The values of META().
enum Metadata {
    static func value(_ field: MetaField, _ frame: Frame, _ source: Int) -> Value {
        guard let row = frame.rowMetadata(source) else { return .missing }
        switch field {
        case .id: return .string(row.id)
        case .sequence: return row.body.map { .integer(Int64(clamping: $0.sequence)) } ?? .missing
        case .deleted: return row.body.map { .bool($0.isDeleted) } ?? .missing
        // Milliseconds since 1970, as in LiteCore.
        case .expiration:
            return row.body?.expiration.map { .integer(Int64(clamping: $0 / 1000)) } ?? .missing
        case .revisionID: return row.body.map { frame.string("\($0.revision)") } ?? .missing
        case .attachments, .conflicts: return .missing
        }
    }

    static func all(_ frame: Frame, _ source: Int) -> Value {
        guard frame.rowMetadata(source) != nil else { return .missing }
        return frame.collection { writer in
            writer.beginDictionary()
            for field in MetaField.whole {
                let value = value(field, frame, source)
                guard !value.isMissing else { continue }
                writer.key(field.rawValue)
                writer.write(value)
            }
            writer.endDictionary()
        }
    }
}
