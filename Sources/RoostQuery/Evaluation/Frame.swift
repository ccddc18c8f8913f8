import Fleece
import Foundation
import Roost
import RoostBytes
import RoostOrder

/// What expressions are evaluated in: the present rows of all sources, variables and parameters of one execution.
///
/// Belongs to one thread. When the execution has ended, another one of the same program can use it.
final class Frame {
    let program: Program
    /// The program's, which is looked at for each value.
    private let paths: [Program.Path]
    private let parameters: Cells<Value>
    let arena = Arena()
    /// Keeps the bytes that parameters point into.
    private var constants: ConstantPool?
    /// What reads documents, for subqueries and blobs: the execution that the frame belongs to, which outlives it.
    unowned var reader: (any DocumentSource)?
    private let rows: Cells<SourceRow>
    /// What META() says of the present rows that have metadata.
    private let metadata: Cells<RowMetadata?>
    private let slots: Cells<Slot>
    private let variables: Cells<Value>
    /// The aggregates of the present group.
    private let aggregates: Cells<Value>
    /// The sets of subqueries that depend on nothing, once they were computed.
    var subqueryResults: [Int: OwnedRows] = [:]
    /// Regular expressions that came from rows.
    var patterns: [String: RegularExpression] = [:]
    /// What made it impossible to go on; looked at after every row.
    private(set) var failure: DatabaseError?
    private var knownTimeZone: TimeZone?
    /// The encoder of keys asked for last.
    private var lastEncoder: KeyEncoder?
    /// Writes rows; `nil` while a caller has it.
    @exclusivity(unchecked) private var spareWriter: FleeceWriter?

    /// The present row of a source.
    private struct SourceRow {
        /// A document's properties, an element, or a row of a subquery.
        var root = Value.missing
        var hasMetadata = false
        /// Counts the source's rows, so that what is known of earlier ones is not taken for true.
        var generation = 0
    }

    private struct Slot {
        var value = Value.missing
        /// Where the path's last key stood in the dictionary that it was looked for in before.
        var place: UInt32 = 0
        var generation = -1
    }

    /// A frame without values of parameters.
    init(_ program: Program) {
        self.program = program
        paths = program.paths
        parameters = Cells(.missing, count: program.parameterNames.count)
        rows = Cells(SourceRow(), count: program.sourceCount)
        metadata = Cells(nil, count: program.sourceCount)
        slots = Cells(Slot(), count: program.paths.count)
        variables = Cells(.missing, count: program.variableCount)
        aggregates = Cells(.missing, count: program.aggregateCount)
    }

    // MARK: Executions

    /// Gives the program's parameters values by their names; those that are not given are missing.
    ///
    /// - Throws: `invalidQuery` for what is no value.
    func setParameters(_ given: [String: DocumentValue]) throws(DatabaseError) {
        guard parameters.count > 0 else { return }
        let pool = ConstantPool()
        for (index, name) in program.parameterNames.enumerated() {
            if let value = given[exactly: name] { parameters[index] = try pool.value(value) }
        }
        constants = pool
    }

    /// Forgets what the execution has left that ended, so that another one can begin.
    func clear() {
        for source in 0..<rows.count {
            // What is known of earlier rows is not taken for that of the next one.
            rows[source] = SourceRow(generation: rows[source].generation &+ 1)
            metadata[source] = nil
        }
        for index in 0..<variables.count { variables[index] = .missing }
        for index in 0..<aggregates.count { aggregates[index] = .missing }
        for index in 0..<parameters.count { parameters[index] = .missing }
        constants = nil
        reader = nil
        if !subqueryResults.isEmpty { subqueryResults = [:] }
        failure = nil
        knownTimeZone = nil
        arena.clear()
    }

    /// The time that functions of dates take for local.
    var timeZone: TimeZone {
        get {
            if let knownTimeZone { return knownTimeZone }
            let present = TimeZone.current
            knownTimeZone = present
            return present
        }
        set { knownTimeZone = newValue }
    }

    /// Ends the execution with an error, after the present row.
    func fail(_ error: @autoclosure () -> DatabaseError) {
        if failure == nil { failure = error() }
    }

    /// - Throws: what made it impossible to evaluate something since the last call.
    @inline(__always)
    func check() throws(DatabaseError) {
        if let failure { throw failure }
        guard !arena.isExhausted else {
            throw DatabaseError(
                .limitExceeded,
                "What the query computes for a single row exceeds \(Arena.limit >> 20) MB. Ask for less of each document."
            )
        }
    }

    // MARK: Rows

    /// Goes to another row of a source.
    @inline(__always)
    func setRow(_ source: Int, _ root: Value, _ row: RowMetadata?) {
        if row != nil { metadata[source] = row }
        rows[source] = SourceRow(
            root: root, hasMetadata: row != nil, generation: rows[source].generation &+ 1)
    }

    /// Sets the value at a path of the present row of its source, which has no root to look it up in.
    @inline(__always)
    func setValue(_ value: Value, ofPath index: Int) {
        slots[index] = Slot(value: value, generation: rows[paths[index].source].generation)
    }

    func root(_ source: Int) -> Value { rows[source].root }
    func rowMetadata(_ source: Int) -> RowMetadata? { rows[source].hasMetadata ? metadata[source] : nil }

    /// The value at a path of the program, found once for each row.
    @inline(__always)
    func value(ofPath index: Int) -> Value {
        let path = paths[index]
        let generation = rows[path.source].generation
        let slot = slots[index]
        if slot.generation == generation { return slot.value }
        return resolve(path, index, generation)
    }

    private func resolve(_ path: Program.Path, _ index: Int, _ generation: Int) -> Value {
        let parent = path.parent < 0 ? rows[path.source].root : value(ofPath: path.parent)
        var place = slots[index].place
        let value = path.step.value(in: parent, near: &place)
        slots[index] = Slot(value: value, place: place, generation: generation)
        return value
    }

    // MARK: Variables

    func parameter(_ index: Int) -> Value { parameters[index] }
    func variable(_ index: Int) -> Value { variables[index] }
    func setVariable(_ index: Int, _ value: Value) { variables[index] = value }
    func aggregate(_ index: Int) -> Value { aggregates[index] }
    func setAggregate(_ index: Int, _ value: Value) { aggregates[index] = value }

    // MARK: Making values

    /// A writer for a row, to be given back. Who evaluates something meanwhile may need another one.
    func takeWriter() -> FleeceWriter {
        unsafe spareWriter.take() ?? FleeceWriter(capacity: 128, wrapping: 1)
    }

    /// Makes keys in a collation, until another one is requested. Reset it before each key: it may have an earlier one.
    func encoder(_ collation: Collation) -> KeyEncoder {
        if let lastEncoder, lastEncoder.collation == collation { return lastEncoder }
        let made = KeyEncoder(collation)
        lastEncoder = made
        return made
    }

    /// Gives back a writer that is ready for another row.
    func giveBack(_ writer: consuming FleeceWriter) { unsafe spareWriter = consume writer }

    /// A new string, which is kept until the row ends.
    func string(_ text: String) -> Value { .string(arena.copy(text)) }

    /// A new array or dictionary, which is kept until the row ends. One that cannot be made, such as one that is nested too deeply,
    /// ends the execution with `limitExceeded`.
    func collection(_ write: (inout FleeceWriter) -> Void) -> Value {
        var writer = FleeceWriter(capacity: 256)
        write(&writer)
        do throws(FleeceError) {
            return Value(FleeceNode(root: arena.copy(try writer.finish())))
        } catch {
            fail(
                DatabaseError(
                    .limitExceeded, "An array or object of the query can't be made. \(error)",
                    underlyingError: error))
            return .null
        }
    }

    /// A new array, which is kept until the row ends.
    func array(_ values: some Sequence<Value>) -> Value {
        collection { writer in
            writer.beginArray()
            for value in values { writer.write(value) }
            writer.endArray()
        }
    }
}

/// What META() knows of a row.
struct RowMetadata {
    let id: ByteView
    /// `nil` for a row that an index alone reports, where only its ID is requested.
    let body: BodyMetadata?
}

/// A step of a path, with the key's bytes at hand.
///
/// Unchecked because of the view of these bytes: they are in the program's pool, which does not change after compiling.
enum ResolvedStep: @unchecked Sendable {
    case key(ByteView)
    case index(Int)

    /// - Parameter place: See ``FleeceNode/member(_:near:)``.
    @inline(__always)
    func value(in value: Value, near place: inout UInt32) -> Value {
        switch (self, value) {
        case (.key(let key), .dictionary(let node)), (.key(let key), .decimal(let node)):
            Value(node.member(key, near: &place))
        case (.index(let index), .array(let node)): Value(node[index])
        default: .missing
        }
    }
}

// MARK: - Cells

/// A fixed number of values that are read and written very often: without an array's copying and exclusivity checks.
///
/// Belongs to one thread. Indices are checked.
@safe struct Cells<Element>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>?
    let count: Int

    init(_ element: Element, count: Int) {
        self.count = count
        guard count > 0 else {
            unsafe base = nil
            return
        }
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
        unsafe memory.initialize(repeating: element, count: count)
        unsafe base = memory
    }

    deinit {
        unsafe base?.deinitialize(count: count)
        unsafe base?.deallocate()
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base.unsafelyUnwrapped[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < count)
            unsafe base.unsafelyUnwrapped[index] = newValue
        }
    }
}

// MARK: - Documents

extension Frame {
    /// What stands beside the present document of a source; missing for one that has no such thing.
    func lookUp(_ field: MetaField, _ source: Int, _ collection: DocumentCollection?) -> Value {
        guard failure == nil, let row = rowMetadata(source), let body = row.body,
            field == .attachments ? body.hasAttachments : body.isConflicted
        else { return .missing }
        do throws(DatabaseError) {
            guard let (document, snapshot) = try reader?.document(row.id.string, of: collection) else {
                return .missing
            }
            let value: DocumentValue
            if field == .attachments {
                value = .dictionary(document.attachmentStubs(.md5Digests))
            } else {
                value = .array(try snapshot.conflicts(of: document.id).map { .string("\($0.revision)") })
            }
            return Value(FleeceNode(root: arena.copy(try value.fleeceBytes())))
        } catch {
            fail(error)
            return .missing
        }
    }
}

// MARK: - Metadata

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
