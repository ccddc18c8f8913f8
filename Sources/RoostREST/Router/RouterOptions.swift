/// What a router permits.
public struct RouterOptions: Sendable {
    /// How long a body may be that is held in memory, in bytes: JSON. What is built from it counts as well: see ``requestMemory``. Default:
    /// 64 MiB.
    public var longestJSON = 64 << 20
    /// How many bytes of memory all requests together may hold for bodies, for what is built from them and for answers; those of one
    /// user, or of one address without a user, at most half of it. Requests beyond that wait, and are answered with 503 and
    /// `Retry-After` when that takes too long. Default: 192 MiB.
    public var requestMemory = 192 << 20
    /// How long an attachment may be, in bytes. Default: 1 GiB, as in CouchDB.
    public var longestAttachment: UInt64 = 1 << 30
    /// How many bytes of attachments all requests together may have stored that no document names yet; those of one user, or of one
    /// address without a user, at most half of it. Requests beyond that wait as for ``requestMemory``. Default: 8 GiB.
    public var unsavedAttachments = Int(clamping: UInt64(8) << 30)
    /// The origins of web pages that may send requests, such as `https://app.example.org`; `*` for all. Default: none.
    public var origins: [String] = []
    /// Whether pages of listed origins may send credentials. Those that `*` alone admits never may. Default: true.
    public var allowsCredentials = true
    /// The proxies that are believed when they tell for whom they ask. Default: those of this machine.
    public var trustedProxies = TrustedProxies.loopback
    /// Whether those who have not said who they are may use databases where there is a sync function, as far as `_security` lets them:
    /// who sees what is in the channel of everybody, and is asked about by the function as nobody. Default: false.
    public var allowsGuests = false
    /// The administrators of the server by name, with their passwords.
    public var admins: [String: String] = [:]
    /// How many rounds of PBKDF2 the password of a new user is stored with; every log-in takes the time of that number. Accounts that were
    /// brought from elsewhere may have fewer, and more only up to 600,000. Default: 600,000.
    public var passwordRounds = 600_000
    /// How long the server may work on one request, besides waiting for its turn and for the client; after that it is answered with
    /// 500 `timeout`, or its answer breaks off. What was made of an index until then stays. Default: 5 minutes, `nil` for ever.
    public var longestWork: Duration? = .seconds(300)
    /// How many requests of one user, or of one address without a user, may be worked on or wait for that at a time, feeds that wait and
    /// answers that are being sent not counted. Others are answered with 503 and `Retry-After`. Default: 128.
    public var requestsUnderWay = 128
    /// How many requests a minute one address may send; of version 6, one network of 64 bits. As many may come at once. Others are
    /// answered with 429 and `Retry-After`, before passwords are looked at. Default: `nil`, any number.
    public var requestsPerMinuteOfAddress: Int?
    /// How many requests a minute one user may send, from all addresses together; as ``requestsPerMinuteOfAddress``. Default: `nil`.
    public var requestsPerMinuteOfUser: Int?
    /// How long a session lasts that is not used, in seconds. Default: 600.
    public var sessionDuration = 600
    /// What the server is called in `GET /`.
    public var vendor = "Roost"

    /// The usual ones.
    public init() {}
}
