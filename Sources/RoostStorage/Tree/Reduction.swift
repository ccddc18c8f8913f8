import RoostBytes
import Synchronization

/// A value that a tree keeps for every subtree, such as a sum: the reduce and rereduce of CouchDB's views.
///
/// The store keeps a value in every branch entry, so reducing any range of keys is O(log n). ``reduce`` makes the value of
/// neighbouring entries, ``combine`` that of neighbouring values. Both must be pure, and combining must give what reducing
/// all entries at once would give. They are called from any thread, also while other threads call them.
///
/// A reduction never keeps anybody from writing. Where its function is unknown, throws, or makes a value of no bytes or of
/// more than 255, the file holds no value for that subtree, and reading reduces its entries instead.
public struct Reduction: Sendable {
    /// Makes a value of one or more entries.
    public typealias Reduce =
        @Sendable (_ rows: borrowing ReductionRows, _ value: inout [UInt8]) throws -> Void
    /// Makes a value of two or more values, which stand in the order of their entries.
    public typealias Combine =
        @Sendable (_ values: borrowing ReductionValues, _ value: inout [UInt8]) throws -> Void

    /// Identifies the reduction in the file. A function that changes needs another name, a version in it for example: what
    /// the file holds is taken for what the function would make.
    public let name: String
    /// Appends the value of some neighbouring entries to an array that is empty.
    public let reduce: Reduce
    /// Appends the value of some neighbouring values to an array that is empty.
    public let combine: Combine

    /// A reduction under the name that trees refer to, 1 to 255 bytes of UTF-8.
    public init(name: String, reduce: @escaping Reduce, combine: @escaping Combine) {
        self.name = name
        self.reduce = reduce
        self.combine = combine
    }
}

/// Neighbouring entries of a tree, valid while a reduction's function runs.
public struct ReductionRows: ~Copyable {
    let page: PageView
    let range: Range<Int>
    let file: DataFile

    /// How many entries there are; at least one.
    public var count: Int { range.count }

    /// Calls `body` with each key and its value, in key order. Both are valid during the call.
    ///
    /// - Throws: ``StoreError`` for a value that can't be read, and what `body` throws.
    public func forEach(_ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {
        try forEachEntry { key, inline, reference in
            guard let reference else {
                return try key.withSpan { key in try inline.withSpan { value in try body(key, value) } }
            }
            try withValue(at: reference) { value in
                try key.withSpan { key in try value.withSpan { value in try body(key, value) } }
            }
        }
    }

    /// Calls `body` with each key, the bytes in its leaf, and the value elsewhere that the entry leads to, if any.
    ///
    /// - Parameter withKeys: whether keys are put together, which takes longer than all else; they are empty otherwise.
    package func forEachEntry(
        withKeys: Bool = true,
        _ body: (_ key: ByteView, _ inline: ByteView, _ value: ValueReference?) throws -> Void
    ) throws {
        let key = ByteBuffer(capacity: 256)
        for index in range {
            let entry = try file.reading(.nowhere) { () throws(MalformedBytes) in
                try page.entry(index)
            }
            if withKeys {
                key.reset()
                page.appendKey(index, to: key)
            }
            try body(key.view, entry.inline, entry.value)
        }
    }

    /// Calls `body` with a value that an entry leads to, valid during the call.
    package func withValue(at reference: ValueReference, _ body: (ByteView) throws -> Void) throws {
        var failure: (any Error)?
        try file.visitValue(reference.chunk) { value in
            do { try body(value) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// Values of neighbouring runs of entries, valid while a reduction's function runs.
public struct ReductionValues: ~Copyable {
    private let bytes = ByteBuffer(capacity: 256)
    private var ends: [Int] = []

    init() {}

    /// How many values there are.
    public var count: Int { ends.count }

    /// Calls `body` with each value, in the order of the entries; valid during the call.
    public func forEach(_ body: (_ value: Span<UInt8>) throws -> Void) throws {
        for index in ends.indices { try self[index].withSpan(body) }
    }

    /// The value at `index`.
    package subscript(index: Int) -> ByteView {
        let start = index == 0 ? 0 : ends[index - 1]
        return bytes.view.slice(start, ends[index] - start)
    }

    mutating func append(_ value: ByteView) {
        bytes.append(value)
        ends.append(bytes.count)
    }
}

extension ByteView {
    /// Calls `body` with the bytes as a span, whose lifetime the compiler checks.
    package func withSpan<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
        let pointer = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return try body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: pointer, count: count)))
    }
}

// Not inlined, because the compiler of Swift 6.3 fails on inlining calls of a closure with a borrowed value without copies.
extension Reduction {
    /// The value of some entries of a leaf, at least one.
    @inline(never)
    func value(of page: PageView, _ range: Range<Int>, in file: DataFile) throws -> [UInt8] {
        var value: [UInt8] = []
        try reduce(ReductionRows(page: page, range: range, file: file), &value)
        return value
    }

    /// The value of neighbouring values; `nil` for none.
    @inline(never)
    func value(of values: borrowing ReductionValues) throws -> [UInt8]? {
        guard values.count > 1 else { return values.count == 1 ? values[0].array : nil }
        var value: [UInt8] = []
        try combine(values, &value)
        return value
    }
}

/// What the file keeps of values: nothing where one can't be made or kept.
extension Reduction {
    /// The value of a leaf.
    func storedValue(of page: PageView, in file: DataFile) -> [UInt8] {
        guard page.count > 0 else { return [] }
        return inLimits(try? value(of: page, 0..<page.count, in: file))
    }

    /// The value of a branch node. Empty children count for nothing.
    func storedValue(of children: [StoredChild]) -> [UInt8] {
        var values = ReductionValues()
        for child in children where child.summary.count > 0 {
            guard !child.reduction.isEmpty else { return [] }
            child.reduction.withView { values.append($0) }
        }
        return inLimits(try? value(of: values))
    }

    private func inLimits(_ value: [UInt8]??) -> [UInt8] {
        guard case let value?? = value, value.count <= Format.maximumReductionLength else { return [] }
        return value
    }
}

// MARK: - ReductionRegistry

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
