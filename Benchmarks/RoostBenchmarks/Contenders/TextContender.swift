/// A database of texts that is searched, in the race.
protocol TextContender: AnyObject {
    /// Stores texts in one transaction, numbered from `first`.
    func insert(_ texts: ArraySlice<String>, from first: Int) throws
    /// Makes a full-text index of all texts, with positions and without stems.
    func makeIndex() throws
    /// How many texts are found.
    func count(_ query: String) throws -> Int
    /// The numbers of the best texts by BM25, of which there are `limit` at most.
    func best(_ limit: Int, _ query: String) throws -> [Int]
    /// Stores another text in the place of one, durably.
    func update(_ number: Int, _ text: String) throws
    /// The bytes of all files.
    func size() throws -> Int
    /// Closes.
    func close() throws
}
