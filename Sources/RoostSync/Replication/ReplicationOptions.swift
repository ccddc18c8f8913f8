import Roost

/// How two databases are made to agree.
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
    /// Settles conflicts that came from there, here; `nil` leaves them to the program.
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

/// Settles the conflicts of a document after revisions of it have come.
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

    /// A function of the live leaves, the winner first. It must come to the same end wherever it runs, or peers undo each
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
