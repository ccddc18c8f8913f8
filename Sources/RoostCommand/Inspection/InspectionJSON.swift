import RoostIndex
import RoostStorage

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
