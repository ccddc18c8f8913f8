import Roost
import RoostIndex
import RoostText
import Synchronization

/// A full-text index of a collection: what it is of, and how its words are found.
public struct TextIndex: Sendable, Hashable, Codable {
    /// What is kept of texts.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Words with their places, which searches find.
        case words
        /// All runs of three characters, by which LIKE, CONTAINS() and regular expressions lead to documents.
        case trigrams
    }

    /// Its name, unique in the collection.
    public var name: String
    /// The expressions whose texts are searched, in SQL++: `title, body`. Texts in arrays and objects count, too.
    public var columns: String
    /// The language whose forms of a word are one; `nil` for none.
    public var language: TextLanguage?
    /// Whether accents, vowel points and strokes are omitted.
    public var ignoresAccents: Bool
    /// Words that are not found.
    public var stopWords: [String]
    /// What a word counts for in each column, in their order; 1 where there is none.
    public var weights: [Double]
    /// The name of the app's own tokenizer, which finds the words then, without regard to language, accents and stop words: see
    /// `Database.register(_:named:)`.
    public var tokenizer: String?
    /// What is kept of the texts. With `.trigrams` nothing of language, accents, stop words, weights and tokenizer counts.
    public var kind: Kind

    /// The description of an index.
    public init(
        _ name: String, on columns: String, language: TextLanguage? = nil, ignoresAccents: Bool = true,
        stopWords: [String] = [], weights: [Double] = [], tokenizer: String? = nil, kind: Kind = .words
    ) {
        self.name = name
        self.columns = columns
        self.language = language
        self.ignoresAccents = ignoresAccents
        self.stopWords = stopWords
        self.weights = weights
        self.tokenizer = tokenizer
        self.kind = kind
    }

    /// Whether both say the same, byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.texts == right.texts && left.kind == right.kind && left.language == right.language
            && left.ignoresAccents == right.ignoresAccents && left.weights == right.weights
    }

    /// Hashes all that it says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(texts)
        hasher.combine(kind)
        hasher.combine(language)
        hasher.combine(ignoresAccents)
        hasher.combine(weights)
    }

    private var texts: [ByteKey?] {
        ([name, columns, tokenizer] + stopWords).map { $0.map { ByteKey($0) } }
    }
}

/// A full-text index that is ready to be used.
final class CompiledTextIndex: Sendable {
    let description: TextIndex
    let tokenizer: any Tokenizer
    let coder: PlaceCoder
    let mapper: TextMapper
    /// The columns as they were written.
    let columnNames: [String]
    /// The columns as a query's expressions are compared with them.
    let columns: [BoundExpression]
    /// What a word counts for in each column.
    let weights: [Double]

    /// The version of the form in which words are kept.
    private static let version = 2
    static let mostColumns = 64

    /// - Parameter own: the app's own tokenizers.
    init(_ index: TextIndex, _ own: Tokenizers? = nil) throws(QueryError) {
        description = index
        let columns = try SQLParser.orderings(index.columns).map(\.value)
        guard 1...Self.mostColumns ~= columns.count else {
            throw QueryError("A full-text index has 1 to \(Self.mostColumns) columns")
        }
        guard index.weights.count <= columns.count, index.weights.allSatisfy({ $0 >= 0 && $0.isFinite })
        else {
            throw QueryError("The weights are numbers from 0 on, one for each column at most")
        }
        columnNames = columns.map { $0.lastName ?? $0.sqlText }
        weights = columns.indices.map { $0 < index.weights.count ? index.weights[$0] : 1 }
        if index.kind == .trigrams {
            tokenizer = TrigramTokenizer()
        } else if let name = index.tokenizer {
            guard let known = own?[name] else {
                throw QueryError(
                    "Words of the full-text index \(index.name.debugDescription) are found by the tokenizer \(name.debugDescription), "
                        + "which is none of the app's: register it when the database is opened")
            }
            tokenizer = known
        } else {
            tokenizer = WordTokenizer(
                language: index.language, ignoresAccents: index.ignoresAccents, stopWords: index.stopWords)
        }
        let isOfWords = index.kind == .words
        coder = PlaceCoder(
            hasRoots: isOfWords && (index.language != nil || index.tokenizer != nil), columns: columns.count,
            hasPlaces: isOfWords)
        mapper = try TextMapper(columns)
        self.columns = mapper.columns
    }

    var definition: IndexDefinition {
        let own = description.tokenizer.map { "\($0.debugDescription) " } ?? ""
        return IndexDefinition(
            name: "text/\(description.name)",
            signature: "text \(Self.version); \(description.columns); \(own)\(tokenizer.version)",
            maintainer: TextMaintainer(index: self))
    }
}

/// A search with its words found out.
struct CompiledTextQuery: Sendable {
    let tree: TextTree
    let leaves: [TextLeaf]

    init(_ tree: TextTree, _ leaves: [TextLeaf]) {
        self.tree = tree
        self.leaves = leaves
    }

    init(_ query: TextQuery, _ index: CompiledTextIndex) throws(TextQueryError) {
        var compiler = TextQueryCompiler(index.tokenizer, columns: index.columnNames)
        tree = try compiler.compile(query)
        leaves = compiler.leaves
    }

    /// - Parameter isForgiving: whether the text is what a person typed who does not know the language.
    init(_ text: String, _ index: CompiledTextIndex, isForgiving: Bool) throws(TextQueryError) {
        guard isForgiving else {
            try self.init(try TextQueryParser.parse(text), index)
            return
        }
        if let query = try? CompiledTextQuery(TextQueryParser.parse(text), index) {
            self = query
        } else {
            try self.init(TextQueryParser.words(text), index)
        }
    }
}

// MARK: - Tokenizers

/// The apps' own tokenizers that a database knows.
final class Tokenizers: Sendable {
    private let known = Mutex<[ByteKey: any Tokenizer]>([:])

    subscript(name: String) -> (any Tokenizer)? {
        get { known.withLock { $0[ByteKey(name)] } }
        set { known.withLock { $0[ByteKey(name)] = newValue } }
    }

    static func of(_ database: Database) -> Tokenizers { database.companion { Tokenizers() } }
}

extension Database {
    /// Has the words of full-text indexes with a tokenizer of that name found by it, for as long as the database is open.
    ///
    /// Register it whenever the database is opened, before its indexes are used: without it, searching them is an error. An index
    /// that was made with another ``Tokenizer/version`` is rebuilt when it is next used.
    public func register(_ tokenizer: any Tokenizer, named name: String) {
        Tokenizers.of(self)[name] = tokenizer
    }
}
