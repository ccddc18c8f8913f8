import Fleece
import Roost
import RoostQuery
import RoostWire

/// The rows of a view as they are sent: a page at a time, all from one snapshot, so that slow clients hold neither a thread nor
/// more than a page.
actor ViewBody: BodyStream {
    typealias DesignView = CollectionView<FleeceValue, FleeceValue>

    private static let pageSize = 500
    /// How long a page may become, apart from its last row.
    private static let longestPage = 256 << 10

    private let view: DesignView
    private let served: ServedDatabase
    private let snapshot: CollectionSnapshot
    private let text: DocumentText
    private let tellsSequence: Bool
    private let visibility: Visibility
    /// How many rows are read at a time: fewer where they are long.
    private var pageSize = ViewBody.pageSize
    /// What is still to be sent.
    private var query: ViewQuery
    private var hasBegun = false
    /// After which row the rows go on.
    private var rowPlace: RowPlace?
    /// Where the groups go on.
    private var place: GroupPlace?
    private var hasEnded = false

    /// Of the rows that are seen, where not all are.
    private var seenRows: SeenRows

    init(
        _ view: DesignView, _ query: ViewQuery, _ target: DatabaseContext, _ parameters: RequestQuery,
        _ visibility: Visibility
    ) throws {
        self.view = view
        self.query = query
        served = target.served
        snapshot = visibility.snapshot
        self.visibility = visibility
        // Rows that are not up to date are of documents as they were.
        if target.isLimited { self.query.update = .now }
        isPresent = self.query.update == .now
        seenRows = SeenRows(page: SeenPage(skip: query.skip, limit: query.limit))
        text = try DocumentText(parameters, target.context.memory)
        tellsSequence = try parameters.flag("update_seq")
    }

    /// Whether it shows the collection as it is now, rather than as of the view's last update.
    nonisolated let isPresent: Bool

    func next() throws -> [UInt8]? {
        guard !hasEnded else { return nil }
        let isReduced = query.reduces ?? view.isReduced
        return isReduced ? try groups() : try page()
    }

    // MARK: Rows

    private func page() throws -> [UInt8] {
        guard visibility.access == nil else { return try seenPage() }
        var page = query
        page.limit = min(query.limit, pageSize)
        // The offset of the rows is sent once.
        page.isSorted = query.isSorted && !hasBegun
        let (wanted, isFirst) = (page, !hasBegun)
        let (bytes, count, isCut) = try rows(wanted, isFirst: isFirst)
        hasBegun = true
        query.limit -= count
        pageSize = isCut ? max(1, count) : min(pageSize * 2, Self.pageSize)
        guard !isCut, count < page.limit || query.limit == 0 else { return bytes }
        hasEnded = true
        return bytes + Array("\n]}\n".utf8)
    }

    /// The text of some rows, after the beginning where they are the first, how many they are, and whether there are more of the page
    /// for which the text has become too long.
    private func rows(
        _ page: ViewQuery, isFirst: Bool
    ) throws -> (text: [UInt8], count: Int, isCut: Bool) {
        let rows = try view.rows(page, at: snapshot, after: rowPlace) { _ in true }
        let place = page.isSorted ? "\"total_rows\":\(rows.totalRows),\"offset\":\(rows.offset)," : ""
        var bytes = isFirst ? beginning(place, showing: rows.updateSequence) : []
        for (index, row) in rows.enumerated() {
            if bytes.count > Self.longestPage { return (bytes, index, true) }
            rowPlace = rows.places[index]
            if index > 0 || !isFirst { bytes += ",\n".utf8 }
            try write(row, page, to: &bytes)
        }
        return (bytes, rows.count, false)
    }

    /// The text before the rows: their offset, and the sequence that they show, where it is requested.
    private func beginning(_ place: String = "", showing sequence: UInt64) -> [UInt8] {
        let sequence = tellsSequence ? "\"update_seq\":\"\(served.token(sequence))\"," : ""
        return Array("{\(place)\(sequence)\"rows\":[\n".utf8)
    }

    private func write(
        _ row: ViewRow<FleeceValue, FleeceValue>, _ page: ViewQuery, to bytes: inout [UInt8]
    ) throws {
        var members: [(String, JSON)] = [
            ("id", .string(row.id)), ("key", .text(row.key.jsonBytes())),
            ("value", .text(row.value.jsonBytes())),
        ]
        if page.includesDocuments {
            let document = visibility.access == nil ? row.document : try document(of: row)
            let bytes = try document.map { try text.bytes($0, in: snapshot, of: served) }
            members.append(("doc", bytes.map { .text($0) } ?? .null))
        }
        JSON.object(members).write(to: &bytes)
    }

    // MARK: Rows that are seen

    /// The document that a row leads to, the one that its value names or its own; `nil` where that is absent or not seen.
    private func document(of row: ViewRow<FleeceValue, FleeceValue>) throws -> Document? {
        let id = row.value["_id"].string ?? row.id
        guard let text = row.value["_rev"].string else { return try visibility.live(id) }
        return try RevisionID(text).flatMap { try visibility.document(id, revision: $0) }
    }

    /// As ``page()``, for a limited user: rows of other documents are skipped, and not counted.
    private func seenPage() throws -> [UInt8] {
        // What is not seen is not counted either.
        var bytes = hasBegun ? [] : Array("{\"total_rows\":null,\"offset\":null,\"rows\":[\n".utf8)
        hasBegun = true
        var isEmpty = true
        while isEmpty, !hasEnded {
            let (rows, query) = (seenRows, query)
            let (text, next) = try read(rows, query)
            hasEnded = next.page.isFull || next.hasEnded
            seenRows = next
            isEmpty = text.isEmpty
            bytes += text
        }
        return hasEnded ? bytes + Array("\n]}\n".utf8) : bytes
    }

    /// How far the rows were read.
    private struct SeenRows {
        var page: SeenPage
        /// The last row of the view that was looked at.
        var place: RowPlace?
        /// Whether there are no more.
        var hasEnded = false
        /// Whether none was written yet.
        var isFirst = true
    }

    /// The text of the rows that are seen of those that come next.
    private func read(
        _ rows: SeenRows, _ query: ViewQuery
    ) throws -> (text: [UInt8], next: SeenRows) {
        var (rows, text) = (rows, [UInt8]())
        var part = query
        (part.skip, part.limit, part.isSorted) = (0, Self.pageSize, false)
        // Documents are read of rows that are seen, and are answered.
        part.includesDocuments = false
        let found = try view.rows(part, at: snapshot, after: rows.place, where: visibility.seesLive)
        rows.place = found.lastPlace ?? rows.place
        rows.hasEnded = found.passed < Self.pageSize
        for row in found where !rows.page.isFull && rows.page.takes() {
            if !rows.isFirst { text += ",\n".utf8 }
            rows.isFirst = false
            try write(row, query, to: &text)
        }
        return (text, rows)
    }

    // MARK: Groups

    private func groups() throws -> [UInt8] {
        let (query, place) = (query, place)
        let isFirst = !hasBegun
        let (groups, next, sequence) = try view.groups(
            query, at: snapshot, from: place, limit: Self.pageSize,
            where: visibility.access == nil ? nil : { try self.visibility.seesLive($0) })
        var bytes = isFirst ? beginning(showing: sequence) : []
        for (index, group) in groups.enumerated() {
            if index > 0 || !isFirst { bytes += ",\n".utf8 }
            let row: JSON = [
                "key": group.key.map { .text($0.jsonBytes()) } ?? .null,
                "value": .text(group.value.jsonBytes()),
            ]
            row.write(to: &bytes)
        }
        if next == nil { bytes += "\n]}\n".utf8 }
        hasBegun = true
        self.place = next
        hasEnded = next == nil
        return bytes
    }
}
