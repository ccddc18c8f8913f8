/// How large the parts of a message may be that must be held in memory before anything can be made of them.
public struct MessageLimits: Sendable {
    /// The first line and all fields, in bytes.
    public var head = 16 << 10
    /// The target of a request, in bytes.
    public var target = 8000
    /// How many fields.
    public var fields = 100
    /// The line before a chunk, in bytes.
    public var chunkLine = 256

    /// The usual ones.
    public init() {}
}
