import Roost

/// The options of a replication.
public struct ReplicationOptions: Sendable {
    /// Which way revisions go.
    public enum Direction: Sendable, Hashable {
        /// From here to there.
        case push
        /// From there to here.
        case pull
        /// Both ways.
        case both
    }

    /// Which way revisions go. Default: both.
    public var direction = Direction.both
    /// Whether it goes on with what changes later, until it is stopped. Default: false.
    public var isContinuous = false
    /// What is carried. Default: everything.
    public var selection = ReplicationSelection.all
    /// Where to begin when the two have never agreed before: a sequence of the source's, as JSON. Default: `nil`, the beginning.
    public var since: String?
    /// Whether both sides keep how far it came. Without that everything is compared each time. Default: true.
    public var usesCheckpoints = true
    /// How many changed documents are compared and written at once, 1 to 10,000. Default: 1000.
    public var batchSize = 1000
    /// How long an attachment may be, in bytes, that is pulled from elsewhere, whatever length the source states. A revision with a
    /// longer one is a problem of that document. Default: 1 GiB.
    public var longestAttachment: UInt64 = 1 << 30
    /// Resolves conflicts that a pull brings; `nil` leaves them to the program.
    public var resolver: ConflictResolver?
    /// How long a failed try is waited after, in seconds: at first, doubling up to `longest`, with a random part.
    public var retry = Retry()

    /// Waiting between tries.
    public struct Retry: Sendable {
        /// Seconds before the second try. Default: 1.
        public var first = 1.0
        /// The most seconds. Default: 300.
        public var longest = 300.0
        /// How many tries in a row may fail before the replication ends; a continuous one never gives up by default, one
        /// that runs once gives up after 5.
        public var attempts: Int?

        /// The defaults.
        public init() {}
    }

    /// The defaults: everything, both ways, once.
    public init() {}

    var batchSizeInRange: Int { min(max(batchSize, 1), 10_000) }
    var attempts: Int { retry.attempts ?? (isContinuous ? .max : 5) }
}

/// Resolves the conflicts of a document after a pull has brought revisions of it.
public struct ConflictResolver: Sendable {
    /// What becomes of the document.
    public enum Outcome: Sendable {
        /// The conflict stays.
        case keepAll
        /// One leaf stays, the others are deleted.
        case keep(RevisionID)
        /// An edit of a leaf takes the place of all: properties as a JSON object.
        case merge(into: RevisionID, json: String)
    }

    private let resolve: @Sendable (_ leaves: [Document]) throws -> Outcome

    /// A function of the live leaves, the winner first. It must return the same outcome on every peer, or peers undo each
    /// other's work.
    public init(_ resolve: @escaping @Sendable (_ leaves: [Document]) throws -> Outcome) {
        self.resolve = resolve
    }

    func outcome(_ leaves: [Document]) throws -> Outcome {
        do { return try resolve(leaves) } catch { throw FunctionError(cause: error) }
    }

    /// Keeps the leaf that wins everywhere.
    public static let winner = ConflictResolver { .keep($0[0].revision) }
}

/// What a replication carries.
public struct ReplicationSelection: Sendable {
    /// Only these documents; `nil` for all.
    public var documentIDs: Set<String>? {
        get { identities.map { Set($0.map(\.text)) } }
        set { identities = newValue.map { Set($0.map { ByteKey($0) }) } }
    }
    /// The same, compared by their bytes.
    package var identities: Set<ByteKey>?
    /// Only documents that a function of the source's side lets through; `nil` for all.
    public var filter: ReplicationFilter?
    /// Only documents that the source's server lets through; `nil` for all. For pulling from a ``RemoteDatabase``: a database
    /// of this program has none, so that pushing from it fails.
    public var serverFilter: ServerFilter?
    /// Only the winning revision of each document, so that conflicts stay where they are.
    public var winnersOnly: Bool

    /// What a server filters its changes by.
    public enum ServerFilter: Sendable {
        /// A function of a design document, `DESIGN/NAME`, with the parameters of its request.
        case named(String, parameters: [String: String])
        /// A Mango selector, as JSON.
        case selector(String)
    }

    /// What is to be carried; by default everything.
    public init(
        documentIDs: Set<String>? = nil, filter: ReplicationFilter? = nil, winnersOnly: Bool = false
    ) {
        identities = documentIDs.map { Set($0.map { ByteKey($0) }) }
        self.filter = filter
        self.winnersOnly = winnersOnly
    }

    /// Everything.
    public static let all = Self()

    func includes(_ id: String) -> Bool { identities?.contains(ByteKey(id)) ?? true }

    func admits(_ document: Document) throws -> Bool { try filter.admits(document) }

    /// What enters the replication's ID: replications that select other documents keep other checkpoints.
    var description: DocumentValue {
        var parts: NamedValues<DocumentValue> = ["winnersOnly": .bool(winnersOnly)]
        if let identities { parts["ids"] = .array(identities.sorted().map { .string($0.text) }) }
        switch serverFilter {
        case .named(let name, let parameters)?:
            let values = parameters.sorted { $0.key < $1.key }.map {
                DocumentValue.array([.string($0), .string($1)])
            }
            parts["serverFilter"] = .array([.string(name), .array(values)])
        case .selector(let json)?: parts["selector"] = .string(json)
        case nil: break
        }
        if let filter { parts["filter"] = .array([.string(filter.name), .string(filter.version)]) }
        return .dictionary(parts)
    }
}

/// A function that chooses documents, deleted ones too: one that is not let through stays unknown to the target.
///
/// A change of the function needs another version: the replication then starts over, since documents that it skipped
/// before may be wanted now.
public struct ReplicationFilter: Sendable {
    /// The filter's name.
    public let name: String
    /// The version of its function.
    public let version: String
    /// Whether a revision is to be carried. Called on threads of Roost's own. What it throws keeps the document back and is
    /// reported as a problem.
    public let admits: @Sendable (Document) throws -> Bool

    /// A filter of that name.
    public init(_ name: String, version: String, admits: @escaping @Sendable (Document) throws -> Bool) {
        self.name = name
        self.version = version
        self.admits = admits
    }
}

extension ReplicationFilter? {
    /// Whether a revision is to be carried, which it is where there is no filter.
    ///
    /// - Throws: What the function throws, as an error of that document.
    func admits(_ document: Document) throws -> Bool {
        do { return try self?.admits(document) ?? true } catch { throw FunctionError(cause: error) }
    }
}

/// Makes the filter that a server has for changes of a database of this process. Its version is another one whenever it may come to
/// choose otherwise.
package typealias LocalFilters =
    @Sendable (_ filter: ReplicationSelection.ServerFilter, _ collection: DocumentCollection) throws ->
    ReplicationFilter
