/// How the lines of the log are written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `PEER - - [TIME] "METHOD TARGET VERSION" STATUS BYTES`, the common log format.
    case common
    /// One JSON object, with the members `time`, `peer`, `method`, `target`, `version`, `status`, `bytes` (of the body) and
    /// `microseconds` (from the head to the end of the answer). What is no request has neither method, target nor version.
    case json
}
