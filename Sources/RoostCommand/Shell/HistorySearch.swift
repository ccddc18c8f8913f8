/// A search backwards through what was typed before, as Ctrl-R begins it.
struct HistorySearch {
    private let history: LineHistory
    private(set) var text = ""
    /// The place of what was found in the history.
    private var place: Int?

    init(_ history: LineHistory) { self.history = history }

    /// What was found; `nil` where nothing was.
    var found: String? { place.map { history.entries[$0] } }

    /// Takes more text to search for.
    mutating func append(_ more: String) { search(text + more) }

    mutating func removeLast() { search(String(text.dropLast())) }

    /// Goes on to an older entry, if there is one that has the text in it.
    mutating func searchOlder() {
        guard let place else { return }
        self.place = history.place(of: text, before: place) ?? place
    }

    private mutating func search(_ text: String) {
        self.text = text
        place = text.isEmpty ? nil : history.place(of: text, before: history.entries.count)
    }
}
