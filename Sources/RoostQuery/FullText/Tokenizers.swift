import Roost
import RoostText
import Synchronization

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
    /// that was made with another ``Tokenizer/version`` is made anew when it is next used.
    public func register(_ tokenizer: any Tokenizer, named name: String) {
        Tokenizers.of(self)[name] = tokenizer
    }
}
