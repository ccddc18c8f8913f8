import Foundation

/// Standard error, for progress and complaints.
enum Console {
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
