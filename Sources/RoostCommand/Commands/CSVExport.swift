import Fleece
import Foundation
import Roost

/// Writes documents as CSV that `roost import` makes the same documents of.
struct CSVExport {
    /// What is in the values of a property.
    private struct Column {
        let name: String
        var kinds: Set<ColumnType> = []
        /// What an import would find.
        var finder = ColumnTypeFinder()

        /// How the values are written: as they are where all are of one kind, otherwise as JSON.
        var type: ColumnType { kinds.count == 1 ? kinds.first ?? .text : .json }

        /// Whether an import takes them for something else, unless it gets the type.
        var needsType: Bool { !kinds.isEmpty && (type == .json || finder.type != type) }
    }

    private let snapshot: CollectionSnapshot
    private let separator: String
    private static let idName = "_id"

    init(_ snapshot: CollectionSnapshot, separator: String) {
        self.snapshot = snapshot
        self.separator = separator
    }

    /// Reads the documents once for their columns, and once to write them.
    func run(_ write: ([UInt8]) throws -> Void) throws {
        let columns = try columns()
        let names = [Self.idName] + columns.map(\.name)
        try write(Array(line(names.map(CommaSeparated.field)).utf8))
        let bar = ProgressBar("Exporting")
        defer { bar.finish() }
        let onTerminal = Console.isTerminal(STDOUT_FILENO)
        let cursor = try snapshot.cursor()
        var count: UInt64 = 0
        while let document = try cursor.next() {
            let fields = columns.map { Self.field(document.properties[$0.name], as: $0.type) }
            let text = line([CommaSeparated.field(document.id)] + fields)
            try write(Array((onTerminal ? ControlCharacters.escaped(in: text) : text).utf8))
            count += 1
            if count % 1024 == 0 { bar.show(count, of: UInt64(snapshot.count)) }
        }
        let types = columns.filter(\.needsType).map { "\($0.name)=\($0.type.rawValue)" }
        if !types.isEmpty {
            Console.note("To import this again as it was, give --types \(types.joined(separator: ",")).")
        }
    }

    private func line(_ fields: [String]) -> String {
        CommaSeparated.row(fields, separator: separator) + CommaSeparated.lineEnd
    }

    private func columns() throws -> [Column] {
        var columns: [Column] = []
        var places: NamedValues<Int> = [:]
        var hasAttachments = false
        let cursor = try snapshot.cursor()
        while let document = try cursor.next() {
            hasAttachments = hasAttachments || document.hasAttachments
            for (name, value) in document.properties where !value.isNull {
                let place = places[name] ?? columns.count
                if place == columns.count {
                    places[name] = place
                    columns.append(Column(name: name))
                }
                let kind = Self.kind(of: value)
                columns[place].kinds.insert(kind)
                let field = Array(Self.field(value, as: kind).utf8)[...]
                columns[place].finder.add(field, isQuoted: field.first == UInt8(ascii: "\""))
            }
        }
        if hasAttachments {
            Console.complain("CSV has no place for attachments: their content is not written.")
        }
        return columns
    }

    private static func kind(of value: FleeceValue) -> ColumnType {
        if value.string != nil { return .text }
        if value.bool != nil { return .bool }
        return value.double != nil ? .number : .json
    }

    private static func field(_ value: FleeceValue, as type: ColumnType) -> String {
        guard value.exists, !value.isNull else { return "" }
        guard type == .json else { return CommaSeparated.field(value) }
        return CommaSeparated.quoted(value.json())
    }
}
