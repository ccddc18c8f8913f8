/// A store of JSON documents with an ordered index on two of their properties, `group` and `n`.
protocol ViewContender: AnyObject {
    /// Saves documents, 1,000 in a commit.
    func save(_ notes: some Collection<Note>) throws
    /// Saves one document, durable on return.
    func commit(_ note: Note) throws
    /// Makes the index. Before, saving takes no notice of it.
    func build() throws
    /// Brings the index up to the newest commit, where commits don't.
    func catchUp() throws
    /// How many entries there are of a group with `n` in a range.
    func count(group: String, _ range: Range<Int>) throws -> Int
    /// Reads entries of a group from `n` on, at most `limit`, and answers how many there were.
    func entries(group: String, from n: Int, limit: Int) throws -> Int
    /// The sum of `n` of each group.
    func groups() throws -> [Int]
    /// How many bytes the index takes.
    func size() throws -> Int
    func close() throws
}

/// A document of some 300 bytes of JSON.
struct Note {
    static let groups = 100

    let id: String
    let group: String
    let n: Int
    let text: String
    let json: String

    /// - Parameter version: tells states of the document apart.
    init(_ index: Int, version: Int = 0) {
        var random = SplitMix64(seed: UInt64(index) << 8 | UInt64(version))
        let digits = String(SplitMix64.mix(UInt64(index)), radix: 16)
        id = String(repeating: "0", count: 16 - digits.count) + digits
        group = "group \(random.next(below: Self.groups))"
        n = random.next(below: 1_000_000)
        text = (0..<26).map { _ in Self.words[random.next(below: Self.words.count)] }.joined(separator: " ")
        json =
            #"{"group":"\#(group)","n":\#(n),"tags":["a\#(n % 7)","b\#(n % 5)"],"stars":\#(n % 6),"#
            + #""place":{"lat":\#(n % 90).5,"lon":\#(n % 180).25},"done":\#(n % 2 == 0),"text":"\#(text)"}"#
    }

    private static let words = [
        "swift", "gable", "nest", "wind", "sea", "sky", "summer", "tower", "eaves", "feather", "insect",
        "north",
    ]
}
