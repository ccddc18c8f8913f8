import RoostStorage
import Testing

/// Transactions that outgrow memory are written ahead in parts, and still read what they have written.
@Suite struct SpillTests {
    @Test func valuesAcrossPartsAreReadWithinTheTransaction() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(directory.file("store"))
        let tree = try store.tree("values")
        // An odd size, so that values lie across the blocks at which parts end.
        func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number % 251), count: 23_457) }
        try store.write { transaction in
            for number in 0..<1500 {
                try transaction.put(Key(UInt64(number)), value(number), in: tree)
                #expect(try transaction[tree, Key(UInt64(number))] == value(number))
            }
            for number in 0..<1500 { #expect(try transaction[tree, Key(UInt64(number))] == value(number)) }
        }
        for number in 0..<1500 { #expect(try store.snapshot()[tree, Key(UInt64(number))] == value(number)) }
    }
}
