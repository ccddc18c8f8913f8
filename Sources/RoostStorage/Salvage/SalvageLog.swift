import RoostBytes

/// Applies the log of a damaged file to what was copied of its trees, oldest commit first.
///
/// A key whose new value can't be read keeps the state from before the commit, whatever else the commit did to it on the way: it
/// never gets a value that no commit ended with.
struct SalvageLog {
    private let salvage: Salvage
    /// Parts of trees that are older than the rest.
    private let older: [UInt64: KeySpans]
    /// What the rest contains already.
    private let since: UInt64
    private let oldest: UInt64
    /// Without any directory trees have only the names that the log gives them, if it does.
    private let makesTrees: Bool
    /// The lowest identifier that a tree which is made now can have; making others has been done.
    private var nextTree: UInt64
    /// Of the commit that is being applied, the keys of each tree that it leaves with a value that can't be read, and where
    /// that stands.
    private var unreadable: [UInt64: [[UInt8]: ChunkReference]] = [:]

    init(
        _ salvage: Salvage, older: [UInt64: KeySpans], since: UInt64, hasRoots: Bool, nextTree: UInt64
    ) {
        self.nextTree = nextTree
        makesTrees = !hasRoots
        self.salvage = salvage
        self.older = older
        self.since = since
        oldest = older.values.flatMap(\.parts).map(\.since).min() ?? since
    }

    private var target: SalvageTarget { salvage.target }

    mutating func run() throws(StoreError) {
        for region in salvage.source.regions where region.end > min(oldest, since) {
            let (chunks, damage) = try salvage.source.operations(in: region)
            for range in damage where region.end > since || !older.isEmpty {
                salvage.report.add(damaged: range)
            }
            let commits = region.kind == .gap ? commits(chunks) : [chunks]
            for commit in commits { try apply(commit, at: region.end) }
            try salvage.meter.advance(region.end - region.start)
        }
    }

    /// The chunks of operations of a stretch without records, commit by commit, as far as they follow one another.
    private func commits(_ chunks: [ChunkReference]) -> [[ChunkReference]] {
        var commits: [[ChunkReference]] = []
        for chunk in chunks {
            let payload = try? salvage.file.payload(.operations, chunk)
            let previous = payload.flatMap { bytes in
                bytes.withView { try? OperationChunk.previous(in: $0, at: chunk) }
            }
            if let previous, previous == commits.last?.last {
                commits[commits.count - 1].append(chunk)
            } else {
                commits.append([chunk])
            }
        }
        return commits
    }

    /// Applies the operations of one commit, which ends at `commit` or before.
    private mutating func apply(_ chunks: [ChunkReference], at commit: UInt64) throws(StoreError) {
        unreadable = try unreadableValues(in: chunks, at: commit)
        for chunk in chunks { try apply(chunk, at: commit) }
        for (tree, keys) in unreadable where target.name(tree) != nil {
            for (key, value) in keys { salvage.noteValue(key, value, tree) }
        }
    }

    /// The keys that the operations leave with a value that can't be read.
    private func unreadableValues(
        in chunks: [ChunkReference], at commit: UInt64
    ) throws(StoreError) -> [UInt64: [[UInt8]: ChunkReference]] {
        var lost: [UInt64: [[UInt8]: ChunkReference]] = [:]
        for chunk in chunks {
            guard let payload = try? salvage.file.payload(.operations, chunk) else { continue }
            payload.withView { bytes in
                for section in (try? OperationChunk.sections(of: bytes)) ?? []
                where section.tree != OperationChunk.treeSection {
                    var keys = lost[section.tree] ?? [:]
                    var decoder = OperationDecoder(section.bytes)
                    // What can't be decoded is noted when it is applied.
                    while (try? decoder.next { note($0, section.tree, commit, in: &keys) }) == true {}
                    lost[section.tree] = keys.isEmpty ? nil : keys
                }
            }
        }
        return lost
    }

    /// Notes in `keys` what an operation does to keys whose values can't be read.
    private func note(
        _ operation: LogOperation, _ tree: UInt64, _ commit: UInt64, in keys: inout [[UInt8]: ChunkReference]
    ) {
        switch operation {
        case .put(let key, let entry):
            let key = key.array
            let isLost =
                isNew(key, tree, commit) && entry.kind != .none
                && (try? salvage.file.payload(.value, entry.chunk)) == nil
            keys[key] = isLost ? entry.chunk : nil
        case .delete(let key):
            if !keys.isEmpty { keys[key.array] = nil }
        case .deleteRange(let lower, let upper):
            let span = KeySpan(lower: lower ?? [], upper: upper)
            keys = keys.filter { !span.contains($0.key) }
        case .appendLeaf: break
        }
    }

    /// Applies the operations in `chunk` of the commit at `commit`.
    private mutating func apply(_ chunk: ChunkReference, at commit: UInt64) throws(StoreError) {
        guard let payload = try? salvage.file.payload(.operations, chunk) else {
            return salvage.report.add(damaged: chunk.offset..<chunk.end)
        }
        try payload.withView { (bytes) throws(StoreError) in
            guard let sections = try? OperationChunk.sections(of: bytes) else { return }
            for section in sections {
                if section.tree == OperationChunk.treeSection {
                    guard commit > since else { continue }
                    for operation in (try? TreeOperation.decode(section.bytes)) ?? [] { try apply(operation) }
                } else {
                    try apply(section.bytes, to: section.tree, at: commit, from: chunk)
                }
            }
        }
    }

    private mutating func apply(_ operation: TreeOperation) throws(StoreError) {
        switch operation {
        case .create(let id, let name, let reduction):
            guard id >= nextTree, id < .max else { return }
            nextTree = id + 1
            try target.create(id, name: name, reduction: reduction)
        case .drop(let id): try target.drop(id)
        }
    }

    private func apply(
        _ bytes: ByteView, to tree: UInt64, at commit: UInt64, from chunk: ChunkReference
    ) throws(StoreError) {
        if makesTrees { try target.create(tree, name: "salvaged-tree-\(tree)", reduction: "") }
        guard target.name(tree) != nil else { return }
        var decoder = OperationDecoder(bytes)
        do throws(OperationDecoder.Failure<StoreError>) {
            while try decoder.next({ (operation) throws(StoreError) in
                try apply(operation, to: tree, at: commit)
            }) {}
        } catch {
            switch error {
            case .malformed: salvage.report.add(damaged: chunk.offset..<chunk.end)
            case .body(let cause): throw cause
            }
        }
    }

    private func apply(_ operation: LogOperation, to tree: UInt64, at commit: UInt64) throws(StoreError) {
        switch operation {
        case .put(let key, let entry):
            if isWanted(key.array, tree, commit) { _ = try target.put(tree, key, entry) }
        case .delete(let key):
            if isWanted(key.array, tree, commit) { try target.delete(tree, key.array) }
        case .deleteRange(let lower, let upper):
            try delete(KeySpan(lower: lower ?? [], upper: upper), tree, commit)
        case .appendLeaf(let leaf):
            try append(leaf, tree, commit)
        }
    }

    /// Whether what the commit did to `key` is to be done again.
    private func isWanted(_ key: [UInt8], _ tree: UInt64, _ commit: UInt64) -> Bool {
        unreadable[tree]?[key] == nil && isNew(key, tree, commit)
    }

    /// Whether what was copied may lack what the commit did to `key`.
    private func isNew(_ key: [UInt8], _ tree: UInt64, _ commit: UInt64) -> Bool {
        commit > since || (older[tree]?.part(of: key)).map { commit > $0.since } ?? false
    }

    private func delete(_ span: KeySpan, _ tree: UInt64, _ commit: UInt64) throws(StoreError) {
        if commit > since { return try target.delete(tree, span) }
        for part in older[tree]?.intersections(span) ?? [] where commit > part.since {
            try target.delete(tree, part.span)
        }
    }

    /// Puts a leaf that was filled by appending at the tree's end.
    private func append(_ leaf: ChunkReference, _ tree: UInt64, _ commit: UInt64) throws(StoreError) {
        guard commit > since || older[tree] != nil else { return }
        guard leaf.length <= DataFile.maximumNodeLength, let payload = try? salvage.file.payload(.node, leaf)
        else {
            salvage.report.add(
                SalvageReport.Loss(tree: target.name(tree) ?? "", keys: .all, offset: leaf.offset, entries: 0)
            )
            return salvage.report.add(damaged: leaf.offset..<leaf.end)
        }
        try payload.withView { (bytes) throws(StoreError) in
            guard let page = PageView(bytes), page.level == 0, page.count > 0,
                PageCheck(page: page, lower: nil, upper: nil).fault() == nil
            else { return salvage.report.add(damaged: leaf.offset..<leaf.end) }
            let span = KeySpan(lower: page.key(0), upper: nil)
            try delete(span, tree, commit)
            let parts =
                commit > since
                ? [span]
                : (older[tree]?.intersections(span) ?? [])
                    .filter { commit > $0.since }.map(\.span)
            _ = try salvage.copy(page, leaf, parts, to: tree)
        }
    }
}

// MARK: - KeySpans

/// Keys from `lower` up to, not including, `upper`; `nil` is open.
struct KeySpan: Equatable {
    var lower: [UInt8] = []
    var upper: [UInt8]?

    func contains(_ key: [UInt8]) -> Bool {
        !key.lexicographicallyPrecedes(lower) && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
    }

    /// What both have in common, `nil` when that is nothing.
    func intersection(_ other: KeySpan) -> KeySpan? {
        let low = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
        var high = upper ?? other.upper
        if let a = upper, let b = other.upper { high = a.lexicographicallyPrecedes(b) ? a : b }
        if let high, !low.lexicographicallyPrecedes(high) { return nil }
        return KeySpan(lower: low, upper: high)
    }

    var range: KeyRange { KeyRange(lower: lower.isEmpty ? nil : Key(lower), upper: upper.map { Key($0) }) }
}

/// Parts of a tree's keys, sorted and apart from each other, each with a number that says what is known of it.
struct KeySpans {
    struct Part {
        var span: KeySpan
        /// Operations of commits after this record must be applied to the part.
        var since: UInt64
    }

    private(set) var parts: [Part] = []

    var isEmpty: Bool { parts.isEmpty }
    var spans: [KeySpan] { parts.map(\.span) }

    /// Adds a span that has nothing in common with the others; neighbours of the same number join.
    mutating func add(_ span: KeySpan, since: UInt64 = 0) {
        var index = parts.partitioningIndex { !$0.span.lower.lexicographicallyPrecedes(span.lower) }
        if index > 0, parts[index - 1].span.upper == span.lower, parts[index - 1].since == since {
            index -= 1
            parts[index].span.upper = span.upper
        } else {
            parts.insert(Part(span: span, since: since), at: index)
        }
        if index + 1 < parts.count, parts[index].span.upper == parts[index + 1].span.lower,
            parts[index].since == parts[index + 1].since
        {
            parts[index].span.upper = parts[index + 1].span.upper
            parts.remove(at: index + 1)
        }
    }

    /// The part that `key` is in.
    func part(of key: [UInt8]) -> Part? {
        let index = parts.partitioningIndex { key.lexicographicallyPrecedes($0.span.lower) }
        guard index > 0, parts[index - 1].span.contains(key) else { return nil }
        return parts[index - 1]
    }

    /// The parts that have something in common with `span`, cut to it.
    func intersections(_ span: KeySpan) -> [Part] {
        var index = max(
            0, parts.partitioningIndex { span.lower.lexicographicallyPrecedes($0.span.lower) } - 1)
        var result: [Part] = []
        while index < parts.count {
            let part = parts[index]
            if let upper = span.upper, !part.span.lower.lexicographicallyPrecedes(upper) { break }
            if let common = part.span.intersection(span) {
                result.append(Part(span: common, since: part.since))
            }
            index += 1
        }
        return result
    }
}
