import Roost
import RoostIndex
import RoostStorage

/// An inspection as lines of text.
struct InspectionText {
    let lines: [String]

    init(_ inspection: StoreInspection) {
        var lines = InspectionText.overview(inspection)
        lines += ["", "What             Live               Dead           Chunks (live / dead)"]
        for content in FileContent.allCases where inspection[content].bytes > 0 {
            lines.append(InspectionText.row(content, inspection[content]))
        }
        for tree in inspection.trees { lines += [""] + InspectionText.describe(tree, inspection.nodeSize) }
        for finding in inspection.findings { lines.append("\(finding)") }
        self.lines = lines
    }

    private static func overview(_ inspection: StoreInspection) -> [String] {
        let live = inspection.liveBytes
        var lines = [
            "file       \(Size.text(inspection.fileBytes)), \(Size.text(live)) alive (\(share(live, inspection.fileBytes)))"
        ]
        let kind = inspection.isEncrypted ? "encrypted" : "not encrypted"
        lines.append(
            "format     version \(inspection.formatVersion), \(kind), \(Count.text(inspection.generation, "compaction"))"
        )
        if let commit = inspection.commit {
            lines.append(
                "commits    \(inspection.commits) in the file, the newest has number \(commit.number)")
        }
        return lines
    }

    private static func row(_ content: FileContent, _ use: FileUse) -> String {
        let chunks = use.liveChunks + use.deadChunks == 0 ? "" : "\(use.liveChunks) / \(use.deadChunks)"
        let bytes =
            padded(content.name, 12) + padded(Size.text(use.liveBytes), 10, right: true) + "  "
            + padded(Size.text(use.deadBytes), 17, right: true)
        return chunks.isEmpty ? bytes : bytes + "           " + chunks
    }

    private static func describe(_ tree: TreeShape, _ nodeSize: Int) -> [String] {
        var lines = [
            "tree \"\(tree.name)\": \(Count.text(tree.entries, "entry", "entries")), depth \(tree.levels.count), "
                + "\(Size.text(tree.nodeBytes)) of nodes, \(Size.text(tree.valueBytes)) of values"
        ]
        for (index, level) in tree.levels.enumerated().reversed() {
            let name = index == 0 ? "leaves" : "level \(index)"
            let changed = level.changedNodes > 0 ? ", \(level.changedNodes) changed in memory" : ""
            let part = share(level.pageBytes, level.nodes * UInt64(nodeSize))
            let nodes = Count.text(level.nodes, "node")
            let entries = Count.text(level.entries, "entry", "entries")
            lines.append("  \(padded(name, 8)) \(nodes), \(part) full, \(entries)\(changed)")
        }
        if tree.unreadableNodes > 0 {
            lines.append("  \(Count.text(tree.unreadableNodes, "node")) can't be read")
        }
        return lines
    }

    private static func share(_ part: UInt64, _ whole: UInt64) -> String {
        whole == 0 ? "0%" : "\(Int((Double(part) / Double(whole) * 100).rounded()))%"
    }

    private static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
    }
}

// MARK: - InspectionJSON

/// An inspection as JSON: what `--json` prints and what the page's script draws.
enum InspectionJSON {
    static func text(of inspection: StoreInspection, path: String, _ derived: [DerivedStore] = []) -> String {
        var object = JSONObject()
        object.add("path", path)
        object.add("fileBytes", inspection.fileBytes)
        object.add("liveBytes", inspection.liveBytes)
        object.add("formatVersion", inspection.formatVersion)
        object.add("encrypted", inspection.isEncrypted)
        object.add("generation", inspection.generation)
        object.add("created", inspection.created)
        object.add("commit", inspection.commit?.number ?? 0)
        object.add("commits", inspection.commits)
        object.add("nodeSize", inspection.nodeSize)
        object.add("contents", raw: array(FileContent.allCases.map { use($0, inspection[$0]) }))
        object.add("trees", raw: array(inspection.trees.map(tree)))
        object.add("timeline", raw: array(inspection.timeline.map(span)))
        object.add("map", raw: map(inspection.map))
        object.add("findings", raw: array(inspection.findings.map(finding)))
        object.add("derived", raw: DerivedJSON.text(derived))
        return object.text
    }

    private static func array(_ items: [String]) -> String { JSONObject.array(items) }

    private static func array(_ numbers: [UInt64]) -> String { array(numbers.map { "\($0)" }) }

    private static func use(_ content: FileContent, _ use: FileUse) -> String {
        var object = JSONObject()
        object.add("name", content.name)
        object.add("liveChunks", use.liveChunks)
        object.add("liveBytes", use.liveBytes)
        object.add("deadChunks", use.deadChunks)
        object.add("deadBytes", use.deadBytes)
        return object.text
    }

    private static func tree(_ tree: TreeShape) -> String {
        var object = JSONObject()
        object.add("name", tree.name)
        object.add("reduction", tree.reduction)
        object.add("entries", tree.entries)
        object.add("depth", tree.levels.count)
        object.add("nodeBytes", tree.nodeBytes)
        object.add("keyBytes", tree.keyBytes)
        object.add("inlineValues", tree.inlineValues)
        object.add("inlineBytes", tree.inlineBytes)
        object.add("values", tree.values)
        object.add("valueBytes", tree.valueBytes)
        object.add("borrowedValues", tree.borrowedValues)
        object.add("unreadableNodes", tree.unreadableNodes)
        object.add("levels", raw: array(tree.levels.map(level)))
        object.add("valueSizes", raw: array(tree.valueSizes))
        return object.text
    }

    private static func level(_ level: TreeShape.Level) -> String {
        var object = JSONObject()
        object.add("nodes", level.nodes)
        object.add("changedNodes", level.changedNodes)
        object.add("entries", level.entries)
        object.add("storedBytes", level.storedBytes)
        object.add("pageBytes", level.pageBytes)
        object.add("fill", raw: array(level.fill))
        return object.text
    }

    private static func span(_ span: CommitSpan) -> String {
        var object = JSONObject()
        object.add("first", span.numbers.lowerBound)
        object.add("last", span.numbers.upperBound)
        object.add("firstTime", span.firstTime)
        object.add("lastTime", span.lastTime)
        object.add("count", span.count)
        object.add("checkpoints", span.checkpoints)
        object.add("bytes", span.bytes)
        object.add("end", span.end)
        object.add("liveBytes", span.liveBytes)
        return object.text
    }

    /// Each cell as a flat list of content, live bytes, dead bytes, for the contents that it has.
    private static func map(_ map: FileMap) -> String {
        let cells = (0..<map.count).map { index in
            var cell: [UInt64] = []
            for content in FileContent.allCases {
                let live = map.bytes(of: content, isLive: true, in: index)
                let dead = map.bytes(of: content, isLive: false, in: index)
                if live + dead > 0 { cell += [UInt64(content.rawValue), live, dead] }
            }
            return array(cell)
        }
        var object = JSONObject()
        object.add("cellBytes", map.cellBytes)
        object.add("cells", raw: array(cells))
        return object.text
    }

    private static func finding(_ finding: CheckFinding) -> String {
        var object = JSONObject()
        object.add("severity", "\(finding.severity)")
        object.add("offset", finding.offset)
        object.add("what", finding.what)
        if let tree = finding.tree { object.add("tree", tree) }
        return object.text
    }
}

// MARK: - DerivedText

/// Indexes and views as lines of text.
enum DerivedText {
    static func lines(_ stores: [DerivedStore]) -> [String] {
        stores.flatMap { store in
            [heading(store)] + store.indexes.map { line($0, store) }
                + (store.damage.map { ["  damaged; rebuilt when it is read: \($0)"] } ?? [])
        }
    }

    private static func heading(_ store: DerivedStore) -> String {
        let collection = store.collection.map { "\($0)" } ?? "of a collection that was dropped"
        return "derived      \(collection): \(store.file), \(Size.text(store.fileBytes)), "
            + Count.text(store.indexes.count, "index", "indexes")
    }

    private static func line(_ index: IndexStatus, _ store: DerivedStore) -> String {
        "  \(index.name): \(standing(of: index, store)), \(Count.text(index.rows, "row")), \(Size.text(index.bytes)), "
            + "sequence \(index.sequence)\(of(store)), version \(short(index.signature))"
    }

    private static func of(_ store: DerivedStore) -> String {
        store.moment.map { " of \($0.lastSequence)" } ?? ""
    }

    private static func standing(of index: IndexStatus, _ store: DerivedStore) -> String {
        switch store.standing(of: index) {
        case .current: "current"
        case .behind: "behind"
        case .building: "being built"
        case .foreign: "of other documents, so it is rebuilt"
        }
    }

    /// Signatures may have whole expressions in them.
    private static func short(_ signature: String) -> String {
        signature.count > 60 ? "\(signature.prefix(59))…" : signature
    }
}

/// Indexes and views as JSON.
enum DerivedJSON {
    static func text(_ stores: [DerivedStore]) -> String { JSONObject.array(stores.map(store)) }

    private static func store(_ store: DerivedStore) -> String {
        var object = JSONObject()
        object.add("file", store.file)
        if let collection = store.collection { object.add("collection", "\(collection)") }
        object.add("fileBytes", store.fileBytes)
        if let damage = store.damage { object.add("damage", damage) }
        object.add("indexes", raw: JSONObject.array(store.indexes.map { index($0, store) }))
        return object.text
    }

    private static func index(_ index: IndexStatus, _ store: DerivedStore) -> String {
        var object = JSONObject()
        object.add("name", index.name)
        object.add("state", store.standing(of: index).rawValue)
        object.add("version", index.signature)
        object.add("rows", index.rows)
        object.add("bytes", index.bytes)
        object.add("sequence", index.sequence)
        object.add("purgeSequence", index.purge)
        return object.text
    }
}
