import RoostBytes

/// Finds the documents of terms in one segment.
struct TermLists {
    let segment: any TextSegment
    let coder: PlaceCoder

    /// The documents that have one of the terms.
    func list(_ terms: TextLeaf.Terms) throws -> PostingList {
        switch terms {
        case .root(let root): return postings(root)
        case .exact(let root, let exact): return exactPostings(root, exact)
        case .prefix(let prefix): return union(try termsBeginning(prefix))
        case .fuzzy(let word, let distance):
            return union(try FuzzyTerms(word, distance).terms(in: segment, coder))
        }
    }

    /// As ``list(_:)``, where every document is wanted and none of the places.
    func documents(_ terms: TextLeaf.Terms) throws -> PostingList {
        if case .prefix(let prefix) = terms, let gathered = GatheredPostings(segment.documents) {
            try segment.forEachBlock(
                coder.hasRoots ? [TextTerm.exact] + prefix : prefix, gathered.add(first:_:))
            if coder.hasRoots {
                try segment.forEachTerm(prefix) { term in
                    if term.first != TextTerm.exact { try gathered.add(uninflected(term)) }
                    return .next
                }
            }
            return gathered
        }
        let list = try list(terms)
        return try (list as? UnionPostings)?.gathered(in: segment.documents) ?? list
    }

    private func postings(_ term: [UInt8]) -> TermPostings { TermPostings(segment.blocks(term), coder) }

    private func exactPostings(_ root: [UInt8], _ exact: [UInt8]) -> PostingList {
        guard coder.hasRoots else { return postings(root) }
        return root == exact ? uninflected(root) : postings([TextTerm.exact] + exact)
    }

    private func uninflected(_ term: [UInt8]) -> PostingList {
        coder.hasRoots ? FilteredPostings(postings(term)) { !$0.isInflected } : postings(term)
    }

    /// Exact forms that begin so.
    private func termsBeginning(_ prefix: [UInt8]) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        for start in coder.hasRoots ? [prefix, [TextTerm.exact] + prefix] : [prefix] {
            try segment.forEachTerm(start) { term in
                found.append(term)
                return .next
            }
        }
        return found
    }

    private func union(_ terms: [[UInt8]]) -> PostingList {
        let lists = terms.map { $0.first == TextTerm.exact ? postings($0) : uninflected($0) }
        return lists.count == 1 ? lists[0] : UnionPostings(lists)
    }
}

/// The terms within an edit distance (Levenshtein, with neighbouring letters exchanged counted as one) of a word.
struct FuzzyTerms {
    private let word: [Unicode.Scalar]
    private let distance: Int

    init(_ word: [Unicode.Scalar], _ distance: Int) {
        self.word = word
        self.distance = distance
    }

    /// The terms of exact forms in a segment. Reads the terms that begin with something near the beginning of the word.
    func terms(in segment: any TextSegment, _ coder: PlaceCoder) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        for start in coder.hasRoots ? [[], [TextTerm.exact]] : [[]] as [[UInt8]] {
            try segment.forEachTerm(start) { term in
                if start.isEmpty, term.first == TextTerm.exact { return .seek([TextTerm.exact + 1]) }
                let letters = Array(
                    String(decoding: term.dropFirst(start.count), as: UTF8.self).unicodeScalars)
                switch compare(letters) {
                case .near:
                    found.append(term)
                    return .next
                case .far: return .next
                case .hopeless(let count):
                    // Whatever begins so is too far away.
                    var view = String.UnicodeScalarView()
                    view.append(contentsOf: letters.prefix(count))
                    var next = start + Array(String(view).utf8)
                    while next.last == 0xFF { next.removeLast() }
                    if let last = next.popLast() { next.append(last + 1) }
                    return .seek(next)
                }
            }
        }
        return found
    }

    enum Comparison: Equatable {
        case near, far
        /// So many letters from the beginning already differ too much.
        case hopeless(Int)
    }

    /// Compares a term with the word. O(length of both).
    func compare(_ letters: [Unicode.Scalar]) -> Comparison {
        var before = [Int](repeating: 0, count: word.count + 1)
        var last = Array(0...word.count)
        for (index, letter) in letters.enumerated() {
            var row = [index + 1]
            row.reserveCapacity(word.count + 1)
            for column in 0..<word.count {
                var best = min(row[column], last[column + 1]) + 1
                best = min(best, last[column] + (word[column] == letter ? 0 : 1))
                if index > 0, column > 0, word[column] == letters[index - 1], word[column - 1] == letter {
                    best = min(best, before[column - 1] + 1)
                }
                row.append(best)
            }
            // An exchange looks back over two rows, so both have to be without hope.
            if (row + last).allSatisfy({ $0 > distance }) { return .hopeless(index + 1) }
            (before, last) = (last, row)
        }
        return last[word.count] <= distance ? .near : .far
    }
}
