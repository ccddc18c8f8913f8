extension DiskState {
    /// The disk after a power failure now and a reboot: nothing unsynced, nothing open, nothing locked, no faults
    /// planned, calls counted from 1.
    func afterPowerFailure(_ fate: CrashFate, _ generator: SeededGenerator) -> DiskState {
        var dice = CrashDice(fate, tearing, oldestSequence..<nextSequence, generator)
        let survivors = Namespace(survivors: names.survivors(&dice))
        var images: [NodeID: FileNode] = [:]
        for (id, node) in nodes.sorted(by: { $0.key < $1.key }) {
            images[id] =
                node.isDirectory ? FileNode(isDirectory: true) : FileNode(durable: node.survivors(&dice))
        }
        var disk = rebooted(dice.generator)
        disk.nodes = images
        disk.names = survivors
        disk.keepReachable()
        return disk
    }

    /// The disk as another process finds it after this one was killed: nothing open and nothing locked, but all
    /// that was written is still in the system's cache, and still unsynced.
    func afterProcessDeath() -> DiskState {
        var disk = rebooted(generator)
        for id in Array(disk.nodes.keys) { disk.nodes[id]?.openHandles = 0 }
        return disk
    }

    private func rebooted(_ generator: SeededGenerator) -> DiskState {
        var disk = self
        disk.generator = generator
        disk.trace.mix(disk.generator.next())
        disk.locks = [:]
        let capacity = faults.capacity
        disk.faults = FaultPlan()
        disk.faults.capacity = capacity
        disk.counts = CallCounts()
        disk.crashPoint = nil
        disk.hasCrashed = false
        return disk
    }

    private var oldestSequence: UInt64 {
        let inFiles = nodes.values.compactMap { $0.unsynced.first?.sequence }
        let inNames = names.unsynced.first.map { [$0.sequence] } ?? []
        return (inFiles + inNames).min() ?? nextSequence
    }

    /// Drops what no path from the root leads to, such as the files of a directory that was lost.
    private mutating func keepReachable() {
        let children = Dictionary(grouping: names.current.keys, by: \.directory)
        var kept: [Entry: NodeID] = [:]
        var links: [NodeID: Int] = [:]
        var open = [Self.root]
        while let directory = open.popLast() {
            for entry in children[directory] ?? [] {
                guard let id = names[entry], kept.updateValue(id, forKey: entry) == nil else { continue }
                links[id, default: 0] += 1
                if node(id).isDirectory { open.append(id) }
            }
        }
        names = Namespace(survivors: kept)
        nodes = nodes.filter { $0.key == Self.root || links[$0.key] != nil }
        for (id, count) in links { nodes[id]?.links = count }
    }
}
