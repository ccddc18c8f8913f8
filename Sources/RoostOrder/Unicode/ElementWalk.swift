/// Finds the collation elements of a text: the matching of UTS #10, section 7, step 2.
struct ElementWalk {
    private let table: CollationTable
    private var scalars: [UInt32] = []

    /// Stands in the place of a mark that a contraction has taken.
    private static let taken = UInt32.max
    /// How many marks after a character can belong to a contraction with it; no text for people has more (UAX #15,
    /// Stream-Safe Text Format).
    private static let longestRun = 32

    init(_ table: CollationTable) { self.table = table }

    /// Calls `body` with each element of `text` in turn.
    mutating func elements(of text: String, _ body: (CollationElement) -> Void) {
        table.normalization.decompose(text.unicodeScalars, into: &scalars)
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            guard scalar != Self.taken else { continue }
            let place = table.places[scalar]
            if place >> 31 == 1, let run = contraction(from: scalar, at: &index) {
                visit(run, body)
            } else if let run = table.run(place) {
                visit(run, body)
            } else {
                body(table.implicitElement(scalar))
            }
        }
    }

    private func visit(_ run: CollationTable.Run, _ body: (CollationElement) -> Void) {
        for index in run.start..<run.start + run.count { body(table.elements[index]) }
    }

    /// The longest contraction of `first` with the scalars from `index`, first with those that follow at once, then with
    /// marks that no other mark of their class keeps apart from it. What it takes is stepped over or marked as taken.
    private mutating func contraction(from first: UInt32, at index: inout Int) -> CollationTable.Run? {
        guard let candidates = table.contractions[first] else { return nil }
        var found = candidates.first { scalars[index...].starts(with: $0.rest) }
        index += found?.rest.count ?? 0
        var matched = found?.rest ?? []
        var lastClass: UInt32 = 0
        for next in index..<min(index + Self.longestRun, scalars.count) where scalars[next] != Self.taken {
            let combiningClass = table.normalization.combiningClass(scalars[next])
            guard combiningClass > 0 else { break }
            let isBlocked = lastClass >= combiningClass
            if !isBlocked, let longer = candidates.first(where: { $0.rest == matched + [scalars[next]] }) {
                found = longer
                matched = longer.rest
                scalars[next] = Self.taken
            } else {
                lastClass = combiningClass
            }
        }
        return found?.elements
    }
}
