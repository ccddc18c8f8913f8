/// The calls of the medium that can be counted and made to fail, one by one.
package enum CallKind: Int, CaseIterable, Sendable {
    /// Opening what exists; ``create`` is the other way of opening.
    case open
    case create
    case read
    case write
    case sync
    case size
    case truncate
    case identity
    case rename
    case remove
    case syncDirectory
    case createDirectory
    case list
    case status
    case lock

    /// Whether the call can change what a crash leaves behind.
    ///
    /// A crash between two such calls is one crash, wherever it falls: harnesses go through changes only.
    package var isChange: Bool {
        switch self {
        case .create, .write, .sync, .truncate, .rename, .remove, .syncDirectory, .createDirectory: true
        case .open, .read, .size, .identity, .list, .status, .lock: false
        }
    }

    /// The operation's name in errors, as POSIX files give it.
    var operation: String {
        switch self {
        case .open, .create: "open"
        case .read: "read"
        case .write: "write"
        case .sync: "sync"
        case .size: "size"
        case .truncate: "truncate"
        case .identity: "identity"
        case .rename: "rename"
        case .remove: "remove"
        case .syncDirectory: "sync directory"
        case .createDirectory: "create directory"
        case .list: "list"
        case .status: "status"
        case .lock: "lock"
        }
    }
}
