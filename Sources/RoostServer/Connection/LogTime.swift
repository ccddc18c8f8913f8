import Foundation
import RoostWire

/// The time of now as the common log format has it: `[06/Nov/1994:08:49:37 +0000]`.
enum LogTime {
    static func text() -> String {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let parts = HTTPDate.text(secondsSince1970: Int(Date().timeIntervalSince1970)).split(separator: " ")
        return "[\(parts[1])/\(parts[2])/\(parts[3]):\(parts[4]) +0000]"
    }
}
