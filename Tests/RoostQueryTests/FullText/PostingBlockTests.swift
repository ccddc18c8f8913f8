import RoostBytes
import RoostSimulation
import Testing

@testable import RoostQuery

@Suite struct PostingBlockTests {
    @Test(arguments: [0, 1, 5, 13, 40]) func numbersOfAnySizeComeBackInRicesCode(k: Int) throws {
        // What is above the lowest k bits is written in unary, so that can't be large.
        var numbers: [UInt64] = []
        for high: UInt64 in [0, 1, 2, 63, 64, 200] {
            for low: UInt64 in [0, 1, .max] {
                numbers.append(high << UInt64(k) | low & ((1 << UInt64(k)) - 1))
            }
        }
        try expectRoundTrip(
            numbers, write: { $0.append(rice: $1, k) },
            read: { (reader) throws(MalformedBytes) in try reader.rice(k) })
    }

    @Test func numbersOfAnySizeComeBackInTheCodeGamma() throws {
        let numbers = (0...56).flatMap { bit -> [UInt64] in [1 << UInt64(bit), 1 << UInt64(bit) | 1] }
        try expectRoundTrip(
            numbers, write: { $0.append(gamma: $1) },
            read: { (reader) throws(MalformedBytes) in try reader.gamma() })
    }

    private func expectRoundTrip(
        _ numbers: [UInt64], write: (inout BitWriter, UInt64) -> Void,
        read: (inout BitReader) throws(MalformedBytes) -> UInt64
    ) throws {
        let buffer = ByteBuffer()
        var writer = BitWriter(buffer)
        for number in numbers { write(&writer, number) }
        writer.finish()
        var reader = BitReader(buffer.view)
        for number in numbers { #expect(try read(&reader) == number) }
        #expect(reader.bytesRead == buffer.count)
        // Behind the end there is nothing but the filling.
        #expect(throws: MalformedBytes.self) {
            for _ in 0..<8 { _ = try read(&reader) }
        }
    }

    /// Blocks as they are written for some documents, each with its first one.
    private func blocks(_ documents: [(number: Int, count: Int, length: Int)]) throws -> [(
        first: Int, bytes: [UInt8]
    )] {
        var blocks: [(first: Int, bytes: [UInt8])] = []
        var writer = PostingWriter(7) { key, value in
            blocks.append((TextKeys.number(key), value.array))
        }
        try writer.begin(Array("owl".utf8))
        for document in documents {
            try writer.add(document.number, count: document.count, length: document.length) { buffer in
                for _ in 0..<document.count { buffer.append(1) }
            }
        }
        try writer.flush()
        return blocks
    }

    @Test(arguments: [1, 2, 15, 16, 17, 5_000], [1, 4, 300])
    func documentsComeBackWithTheirCounts(size: Int, mostCount: Int) throws {
        var random = SeededGenerator(seed: UInt64(size + mostCount))
        var number = Int.random(in: 0..<1 << 30, using: &random)
        let documents = (0..<size).map { _ in
            number += Int.random(in: 1...(Bool.random(using: &random) ? 2 : 100_000), using: &random)
            return (
                number: number, count: Int.random(in: 1...mostCount, using: &random),
                length: Int.random(in: mostCount...1_000, using: &random)
            )
        }
        var found: [(number: Int, count: Int)] = []
        for block in try blocks(documents) {
            try block.bytes.withView { view in
                let head = try PostingBlock.Head(view, first: block.first)
                var reader = PostingBlock.Documents(view, head)
                var (numbers, counts): ([Int], [Int]) = ([], [])
                try reader.readNumbers(first: block.first, &numbers)
                let places = try reader.readCounts(&counts)
                #expect(view.count - places == counts.reduce(0, +))
                let own = documents[found.count..<found.count + numbers.count]
                #expect(head.last == numbers.last)
                #expect(counts.allSatisfy { $0 <= head.most })
                #expect(own.allSatisfy { $0.length >= head.shortest })
                if numbers.count >= PostingBlock.bounded {
                    #expect(head.most == counts.max())
                    #expect(head.shortest == own.map(\.length).min())
                }
                found += zip(numbers, counts).map { ($0, $1) }
            }
        }
        #expect(found.map(\.number) == documents.map(\.number))
        #expect(found.map(\.count) == documents.map(\.count))
    }

    @Test func aBlockThatIsCutOffIsMalformed() throws {
        let block = try #require(
            try blocks((0..<40).map { (number: $0 * 1_000, count: 3, length: 9) }).first?.bytes)
        for length in 0..<30 {
            #expect(throws: MalformedBytes.self) {
                try Array(block.prefix(length)).withView { (view) throws in
                    var reader = PostingBlock.Documents(view, try PostingBlock.Head(view, first: 0))
                    var (numbers, counts): ([Int], [Int]) = ([], [])
                    try reader.readNumbers(first: 0, &numbers)
                    _ = try reader.readCounts(&counts)
                }
            }
        }
    }

    @Test(arguments: [nil, [1.0, 3.0], [0.5, 0.25]] as [[Double]?])
    func noDocumentWithFewerPlacesThanTheLeastScoresMore(weights: [Double]?) throws {
        for shortest in [0, 1, 20, 400] {
            let scoring = LeafScoring(
                documents: 1_000, hits: 120, averageLength: 40, boost: 1.5, weights: weights, found: nil,
                length: { _ in shortest })
            let heaviest = weights?.max() ?? 1
            for wanted in 1...60 {
                let threshold = try scoring.score(Double(wanted) * heaviest, 0)
                let least = scoring.leastCount(above: threshold, shortest: shortest)
                // The one that scores as much is none that scores more, but a rounded number may not say so.
                #expect(least == wanted || least == wanted - 1)
                #expect(scoring.leastCount(above: threshold * 0.999, shortest: shortest) <= wanted)
            }
            #expect(scoring.leastCount(above: 1e9, shortest: shortest) == .max)
        }
    }
}
