/// What opens a store.
struct OpenRequest: Sendable {
    /// An existing directory that belongs to the store.
    let directory: String
    /// Bytes of every value, for contenders with records of fixed size.
    let valueSize: Int
    /// Documents the loaded store has, for the raw limit, which keeps no index.
    let count: Int
    /// What the cache holds, in bytes; `nil` for what the configuration says.
    let cacheSize: Int?
}

/// One contender as the catalogue lists it.
struct ContenderEntry: Sendable {
    enum Kind: String, Codable, Sendable {
        /// A plain program that writes or reads the same bytes.
        case raw
        case peer
        /// A peer that promises less than the others: shown, but nobody's ratio is taken from it.
        case relaxed
        case roost
    }

    /// What `--contenders` takes.
    let name: String
    /// What the tables say.
    let title: String
    let kind: Kind
    /// How it is configured, in a sentence for the reader of the results.
    let configuration: String
    /// The rows it takes part in.
    let rows: Set<Row>
    let open: @Sendable (OpenRequest) throws -> any Contender
    /// Makes its ciphers and hash functions, where it takes part in their rows.
    var primitives: (@Sendable () -> any PrimitiveContender)?
    /// Opens it as a store of blobs, where it takes part in their rows.
    var blobs: (@Sendable (_ directory: String) throws -> any BlobContender)?
    /// Opens it as a store of documents with an index, where it takes part in their rows.
    var views: (@Sendable (_ directory: String) throws -> any ViewContender)?
    /// Opens it as a store of JSON documents, where it takes part in their row.
    var documents: (@Sendable (_ directory: String) throws -> any DocumentContender)?
    /// Opens it as a database of JSON, where it takes part in the rows of queries.
    var queries: (@Sendable (_ directory: String) throws -> any QueryContender)?
    /// Opens it as a database of texts, where it takes part in the rows of searches.
    var texts: (@Sendable (_ directory: String) throws -> any TextContender)?
    /// Starts it as a server, where it takes part in the rows of HTTP.
    var server: (@Sendable (_ directory: String) throws -> any ServerContender)?
    /// Opens two databases that replicate, where it takes part in those rows.
    var replication: (@Sendable (_ directory: String) throws -> RoostReplication)?
    /// Figures that were measured elsewhere and are only shown; it is not run then.
    var known: [Metric: Double] = [:]
    /// The contender it is a variant of, which its rates are compared with as well.
    var original: String?
}
