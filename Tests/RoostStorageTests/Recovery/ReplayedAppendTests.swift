import RoostSimulation
import Testing

@testable import RoostStorage

/// Leaves that keys were appended to, which the log names, put back by replaying. With nodes of another size the tree then
/// has another shape than it had where they were written.
@Suite struct ReplayedAppendTests {
    /// Deleting what the new leaf takes the place of cuts a large leaf in several, of which the last is empty in the end and
    /// begins after the new leaf does.
    @Test func keysAreFoundWhereAnEmptiedLeafBeginsLater() throws {
        var options = StoreOptions()
        options.nodeSize = 32_768
        options.compactsAutomatically = false
        let environment = Simulation.environment(of: SimulatedMedium())
        var store = try Store.open("store", options: options, environment: environment)
        let tree = try store.tree("tree")
        try store.write { transaction in
            for number in 0..<900 as Range<UInt64> {
                try transaction.put(Key(900 - number), [UInt8](repeating: 1, count: 20), in: tree)
            }
        }
        if let ticket = try store.beginWriting().stage(.always) {
            try store.commitQueue().makeDurable(ticket)
        }
        try store.close()
        options.nodeSize = 1024
        store = try Store.open("store", options: options, environment: environment)
        let transaction = try store.beginWriting()
        let editor = try transaction.editor(tree)
        let builder = LeafBuilder()
        for number in 110...130 as ClosedRange<UInt64> {
            Key(number).bytes.withView { builder.add(key: $0, .inline(.empty)) }
        }
        let chunk = try editor.write(0..<builder.count, of: builder)
        try editor.replay(.appendLeaf(chunk), from: ChunkReference(offset: chunk.offset + 1, length: 6))
        let view = try transaction[tree]
        #expect(view.count == 109 + 21)
        for number in 110...130 as ClosedRange<UInt64> {
            #expect(try view.contains(Key(number)))
            #expect(try view.rank(Key(number)) == number - 1)
        }
        try transaction.delete(Key(UInt64(120)), in: tree)
    }
}

extension TreeEditor {
    /// Writes the entries of `builder` as a leaf that nothing leads to.
    fileprivate func write(_ range: Range<Int>, of builder: LeafBuilder) throws(StoreError) -> ChunkReference
    {
        try context.output.append(.node, builder.build(range).page)
    }
}
