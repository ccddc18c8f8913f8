/// Server-sent events (the HTML standard, section 9.2).
public enum EventStream {
    /// The media type.
    public static let mediaType = "text/event-stream"

    /// An event with data of one line and the ID from which a client goes on after it lost the connection.
    public static func event(_ data: [UInt8], id: String) -> [UInt8] {
        var bytes = Array("data: ".utf8)
        bytes += data
        bytes += "\nid: ".utf8
        bytes += id.utf8.filter { $0 != 10 && $0 != 13 }
        bytes += "\n\n".utf8
        return bytes
    }

    /// A sign of life.
    public static let heartbeat = Array("event: heartbeat\ndata: \n\n".utf8)
}
