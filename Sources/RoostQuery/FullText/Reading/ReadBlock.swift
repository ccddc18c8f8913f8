import RoostBytes

/// A block that is read: its documents, and the places of the present one.
struct ReadBlock {
    private var numbers: [Int] = []
    /// How many places each document has, once one of them was asked for.
    private var counts: [Int] = []
    /// The present document's place among them.
    private var index = 0
    private let bytes = ByteBuffer(capacity: PostingBlock.size + 256)
    private var documents: PostingBlock.Documents?
    /// The document whose places begin at ``offset``.
    private var reached = 0
    private var offset = 0
    /// The places of the document ``known``, once they were asked for.
    private var places: [TextPlace] = []
    private var known = -1

    mutating func read(
        _ block: ByteView, _ head: PostingBlock.Head, first: Int
    ) throws(MalformedBytes) {
        bytes.reset()
        bytes.append(block)
        var documents = PostingBlock.Documents(bytes.view, head)
        try documents.readNumbers(first: first, &numbers)
        self.documents = documents
        counts.removeAll(keepingCapacity: true)
        (index, reached, known) = (0, 0, -1)
    }

    /// Reads how many places each document has.
    private mutating func readCounts() throws(MalformedBytes) {
        guard counts.isEmpty, var documents else { return }
        offset = try documents.readCounts(&counts)
    }

    /// How many places there are in the present document.
    mutating func count() throws(MalformedBytes) -> Int {
        try readCounts()
        return counts.isEmpty ? 0 : counts[index]
    }

    /// Goes to the first document that is not less than `target`, and answers it; or the last one, where all are less.
    mutating func seek(_ target: Int) -> Int {
        var place = index
        let last = numbers.count - 1
        while place < last, numbers[place] < target { place += 1 }
        index = place
        return numbers[place]
    }

    /// Goes to the first document, not less than `target`, that has `least` places or more, and answers it; `nil` where none has.
    mutating func seek(_ target: Int, atLeast least: Int) throws(MalformedBytes) -> Int? {
        try readCounts()
        _ = seek(target)
        var place = index
        let last = numbers.count
        while place < last, counts[place] < least || numbers[place] < target { place += 1 }
        guard place < last else { return nil }
        index = place
        return numbers[place]
    }

    /// Reads the places of the present document, until another block is read.
    private mutating func reader(_ coder: PlaceCoder) throws(MalformedBytes) -> PlaceReader {
        try readCounts()
        if reached < index {
            var passed = 0
            for document in reached..<index { passed += counts[document] }
            var reader = ByteReader(bytes.view.dropFirst(offset))
            try coder.skip(passed, &reader)
            offset += reader.position
            reached = index
        }
        return coder.places(counts[index], in: bytes.view.dropFirst(offset))
    }

    /// How many places of this block have one of `other` at a distance that is in `distances`, in the present document of both;
    /// `most` where there are more. Places are read no further than that takes.
    mutating func count(
        beside other: inout ReadBlock, at distances: ClosedRange<Int>, upTo most: Int, _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Int {
        var (starts, ends) = (try reader(coder), try other.reader(coder))
        guard var end = try ends.next() else { return 0 }
        var count = 0
        while count < most, let start = try starts.next() {
            let wanted = start.order + Int64(distances.lowerBound)
            while end.order < wanted {
                guard let next = try ends.next() else { return count }
                end = next
            }
            if end.order <= start.order + Int64(distances.upperBound) { count += 1 }
        }
        return count
    }

    /// Goes to the first document, not less than `target`, of both blocks in which a place of this block has one of `other` at one of
    /// the distances; `false` when one of them ends before `target`, which is that document otherwise.
    mutating func seek(
        _ target: inout Int, beside other: inout ReadBlock, at distances: ClosedRange<Int>,
        _ coder: PlaceCoder
    ) throws(MalformedBytes) -> Bool {
        while true {
            let own = seek(target)
            guard own >= target else { return false }
            target = own
            let others = other.seek(target)
            guard others >= target else { return false }
            if others == target, try count(beside: &other, at: distances, upTo: 1, coder) > 0 {
                return true
            }
            target = max(others, own + 1)
        }
    }

    /// The places of the present document.
    mutating func places(_ coder: PlaceCoder) throws(MalformedBytes) -> ArraySlice<TextPlace> {
        if known != index {
            var reader = try reader(coder)
            places.removeAll(keepingCapacity: true)
            while let place = try reader.next() { places.append(place) }
            known = index
        }
        return places[...]
    }
}
