/// A store of JSON documents, as a program uses one that keeps its objects in it.
///
/// It has three tables of its own: what is loaded into one is not seen in another.
protocol DocumentContender: AnyObject {
    /// Saves JSON texts as new documents, in one durable commit.
    func insert(_ notes: ArraySlice<Note>, into table: NoteTable) throws
    /// Saves values of a `Codable` type as new documents of the table of records, in one durable commit.
    func insert(_ records: ArraySlice<NoteRecord>) throws
    /// Replaces documents of the table of texts, which are there, in one durable commit.
    func update(_ notes: ArraySlice<Note>) throws
    /// A value of the table of records.
    func record(_ id: String) throws -> NoteRecord?
    /// What a list shows of a value of the table of records.
    func summary(_ id: String) throws -> NoteSummary?
    /// The sum of the property `n` of all documents of the table of texts, read one by one.
    func sum() throws -> Int
    func close() throws
}

/// What ``DocumentContender`` keeps apart.
enum NoteTable: String, CaseIterable {
    /// JSON texts, loaded in the order of their IDs.
    case texts
    /// JSON texts, loaded in random order.
    case shuffled
    /// Codable values, loaded in the order of their IDs.
    case records
}

/// The properties of a ``Note`` as a program declares them.
struct NoteRecord: Codable, Identifiable, Sendable {
    struct Place: Codable, Sendable {
        var lat: Double
        var lon: Double
    }

    var id: String
    var group: String
    var n: Int
    var tags: [String]
    var stars: Int
    var place: Place
    var done: Bool
    var text: String
}

/// A few properties of a ``NoteRecord``, as a list shows them.
struct NoteSummary: Codable, Identifiable, Sendable {
    var id: String
    var group: String
    var n: Int
}

extension NoteRecord {
    init(_ note: Note) {
        let n = note.n
        self.init(
            id: note.id, group: note.group, n: n, tags: ["a\(n % 7)", "b\(n % 5)"], stars: n % 6,
            place: Place(lat: Double(n % 90) + 0.5, lon: Double(n % 180) + 0.25), done: n % 2 == 0,
            text: note.text)
    }
}
