import Roost
import RoostOrder

// Window functions and searches.
extension Binder {
    // MARK: Windows

    func window(_ call: WindowCall) throws(QueryError) -> BoundWindowCall {
        func failure(_ text: String) -> QueryError {
            QueryError("\(call.function.name)() \(text)", at: call.place.offset)
        }
        if let windowProblem { throw failure("OVER \(windowProblem)") }
        // Names are those of the rows, and not of columns that are made of them.
        let saved = columnUse
        (columnUse, windowProblem) = (.none, Self.nestedWindow)
        defer { (columnUse, windowProblem) = (saved, nil) }
        let window = try named(call.window)
        var arguments: [CollatedExpression] = []
        for argument in call.arguments { arguments.append(try collated(argument)) }
        for place in call.function.constantArguments where place < arguments.count {
            guard arguments[place].value.isGiven else {
                throw failure(
                    "takes a number that is the same for all rows, and not \(call.arguments[place].sqlText)")
            }
        }
        let frame = try (window.frame ?? .usual).map { (offset) throws(QueryError) -> BoundExpression in
            let bound = try bind(offset)
            guard bound.isGiven else {
                throw failure("has a frame whose bound is \(offset.sqlText), and not the same for all rows")
            }
            return bound
        }
        if frame.unit == .range, !frame.offsets.isEmpty, window.order.count != 1 {
            throw failure(
                "has a frame of values in RANGE, for which ORDER BY has one expression. Write ROWS to count rows"
            )
        }
        let isWhole =
            frame.start == .unboundedPreceding
            && (frame.end == .unboundedFollowing || frame.unit == .range && window.order.isEmpty)
        if case .aggregate(let aggregate, let isDistinct) = call.function, !isWhole,
            !Accumulator(kind: .aggregate(aggregate, isDistinct: isDistinct), collation: .binary).isAdditive
        {
            throw failure(
                "with DISTINCT, and medians and percentiles, are of whole partitions: leave ORDER BY and the frame away"
            )
        }
        return BoundWindowCall(
            function: call.function, arguments: arguments.map(\.value),
            collation: arguments.first?.collation ?? .binary,
            partition: try window.partition.map { (value) throws(QueryError) in try collated(value) },
            order: try orderings(window.order), frame: frame, written: .window(call))
    }

    /// A window with what the one of WINDOW has that it names.
    func named(_ window: Window) throws(QueryError) -> Window {
        guard let name = window.base else { return window }
        guard let known = namedWindows[ByteKey(name)] else {
            let names = namedWindows.keys.map(\.text).sorted()
            throw QueryError(
                "There is no window \(name)\(Suggestion.text(for: name, among: names))",
                at: window.place.offset)
        }
        guard window.partition.isEmpty, window.order.isEmpty || known.order.isEmpty,
            window.frame == nil || known.frame == nil
        else {
            throw QueryError(
                "The window \(name) has an order or a frame already, and keeps its partitions",
                at: window.place.offset)
        }
        var result = window
        result.base = nil
        result.partition = known.partition
        if result.order.isEmpty { result.order = known.order }
        result.frame = result.frame ?? known.frame
        return result
    }

    // MARK: Searches

    /// MATCH(index, text): whether the search finds the document.
    func match(_ name: String?, _ text: Expression, _ place: Place) throws(QueryError)
        -> BoundExpression
    {
        let (source, collection, index) = try textIndex(name, place)
        let search = BoundSearch(
            number: searches.count, source: source, collection: collection, index: index,
            text: try bind(text),
            written: text)
        searches.append(search)
        return .match(search)
    }

    /// RANK(index): the score of the first MATCH() of that index; 0 for a document that it does not find.
    func rank(_ name: String?, _ place: Place) throws(QueryError) -> BoundExpression {
        let (source, _, index) = try textIndex(name, place)
        let own = ByteKey(index.description.name)
        guard
            let search = searches.first(where: {
                $0.source == source && ByteKey($0.index.description.name) == own
            })
        else {
            throw QueryError(
                "RANK(\(name ?? "")) is the rank of what MATCH(\(name.map { "\($0), " } ?? "")…) has found, and the query "
                    + "has none in WHERE", at: place.offset)
        }
        rankedSearches.insert(search.number)
        return .rank(search)
    }

    /// The index of a name, with the alias of its source before it where there are several sources.
    private func textIndex(
        _ name: String?, _ place: Place
    ) throws(QueryError) -> (source: Int, collection: DocumentCollection, index: CompiledTextIndex) {
        var (source, name) = (Scope.Source?.none, name)
        if let full = name, let dot = full.firstIndex(of: "."),
            let found = scope.source(named: String(full[..<dot])), found.source.collection != nil
        {
            scope.noteUse(above: found.depth)
            source = found.source
            name = String(full[full.index(after: dot)...])
        }
        if source == nil { source = try self.source(nil, place) }
        guard let source, let collection = source.collection else {
            throw QueryError("MATCH() searches documents of collections", at: place.offset)
        }
        do throws(QueryError) {
            return (source.number, collection, try schema.textIndex(name, of: collection))
        } catch {
            throw error.placed(at: place)
        }
    }
}
