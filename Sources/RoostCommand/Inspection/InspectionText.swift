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
