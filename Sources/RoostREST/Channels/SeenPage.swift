/// `skip` and `limit`, counted among what somebody sees.
struct SeenPage: Sendable {
    /// How many are still to be passed over, and to be answered.
    private(set) var skip: Int
    private(set) var limit: Int

    init(skip: Int, limit: Int) {
        self.skip = skip
        self.limit = limit
    }

    /// Whether nothing more is wanted.
    var isFull: Bool { limit == 0 }

    /// Counts one that is seen, while more is wanted; tells whether it is answered.
    mutating func takes() -> Bool {
        guard skip == 0 else {
            skip -= 1
            return false
        }
        limit -= 1
        return true
    }
}
