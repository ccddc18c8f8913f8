import RoostBytes
import RoostText

/// Collects the words of documents in memory, and writes them as a segment.
final class SegmentBuilder {
    private let tokenizer: any Tokenizer
    private let coder: PlaceCoder
    private var words = ByteTable()
    /// By word: the terms of its root and of its exact form, where that is another one.
    private var terms: [(root: UInt32, exact: UInt32)] = []
    private var termTable = ByteTable()
    /// By term: one more than the last document that was seen to have it. Only where no places are kept.
    private var lastDocuments: [Int] = []
    /// A term and a packed place for each word, in the order in which they came.
    private var found: [(term: UInt32, place: UInt64)] = []
    /// How many words each document has.
    private(set) var lengths: [Int] = []
    private var list = WordList()

    private static let none = UInt32.max
    /// The free places between two texts of a column, which no phrase reaches over.
    static let gap = 10

    init(_ tokenizer: any Tokenizer, _ coder: PlaceCoder) {
        self.tokenizer = tokenizer
        self.coder = coder
    }

    /// About how many bytes are in use.
    var size: Int { found.count * 24 + words.count * 64 + lengths.count * 8 }
    var isFull: Bool { lengths.count >= PackedPlace.mostDocuments - 1 }

    /// Adds a document: the texts of each column.
    func add(_ columns: [[String]]) {
        var length = 0
        for (column, texts) in columns.enumerated() {
            list.removeAll()
            for text in texts {
                tokenizer.words(of: text, into: &list)
                for _ in 0..<Self.gap { list.skip() }
            }
            add(column)
            length += list.count
        }
        lengths.append(length)
    }

    private func add(_ column: Int) {
        let document = lengths.count
        list.bytes.withView { bytes in
            for word in list.words {
                let view = bytes.slice(word.start, word.length)
                let (number, isNew) = words.insert(view)
                if isNew { addTerms(of: String(decoding: view.array, as: UTF8.self)) }
                let known = terms[number]
                guard coder.hasPlaces || isFirst(known.root, in: document) else { continue }
                let isInflected = known.exact != Self.none
                found.append(
                    (known.root, PackedPlace.pack(document, column, word.position, isInflected: isInflected)))
                if isInflected {
                    found.append(
                        (known.exact, PackedPlace.pack(document, column, word.position, isInflected: false)))
                }
            }
        }
    }

    /// Whether a term has not been seen in the document before.
    private func isFirst(_ term: UInt32, in document: Int) -> Bool {
        while lastDocuments.count <= term { lastDocuments.append(0) }
        defer { lastDocuments[Int(term)] = document + 1 }
        return lastDocuments[Int(term)] <= document
    }

    private func addTerms(of word: String) {
        let made = tokenizer.terms(of: word)
        let root = insert(TextTerm.term(made.root))
        let exact = coder.hasRoots && made.exact != made.root ? insert(TextTerm.exact(made.exact)) : Self.none
        terms.append((root, exact))
    }

    private func insert(_ term: [UInt8]) -> UInt32 {
        UInt32(term.withView { termTable.insert($0).number })
    }

    /// Writes the segment's blocks.
    ///
    /// - Parameter first: the number of the first document.
    func write(to writer: PostingWriter, first: Int) throws {
        // Sorted by term; within a term, places keep the order in which they came.
        var starts = [Int](repeating: 0, count: termTable.count + 1)
        for word in found { starts[Int(word.term) + 1] += 1 }
        for term in 0..<termTable.count { starts[term + 1] += starts[term] }
        var ends = starts
        var places = [UInt64](repeating: 0, count: found.count)
        for word in found {
            places[ends[Int(word.term)]] = word.place
            ends[Int(word.term)] += 1
        }
        found = []
        for term in termTable.sorted() {
            try writer.begin(termTable[term])
            var start = starts[term]
            let end = starts[term + 1]
            while start < end {
                let document = PackedPlace.document(places[start])
                var stop = start + 1
                while stop < end, PackedPlace.document(places[stop]) == document { stop += 1 }
                let slice = places[start..<stop]
                try writer.add(first + document, count: slice.count, length: lengths[document]) {
                    coder.append(slice, to: $0)
                }
                start = stop
            }
        }
        try writer.flush()
    }
}
