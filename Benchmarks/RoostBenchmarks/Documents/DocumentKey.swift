/// What a reader looks up: the ID; and the document's position in the ID-ordered load, which only the raw
/// limit may use, as it keeps no index.
struct DocumentKey {
    let id: DocumentID
    let position: Int

    @inline(__always)
    init(_ corpus: Corpus, _ position: Int) {
        id = corpus.id(of: position)
        self.position = position
    }
}
