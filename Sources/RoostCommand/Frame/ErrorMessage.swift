import Fleece
import Roost

/// Sentences that tell a user of errors.
enum ErrorMessage {
    /// What is wrong with JSON text that is a part of a file, with its place in the file.
    ///
    /// - Parameters:
    ///   - line: Where the text begins, counted from 1.
    ///   - column: The column where it begins in that line, in bytes from 1.
    static func text(of error: DatabaseError, line: Int, column: Int = 1) -> String {
        guard let cause = error.underlyingError as? FleeceError, let innerLine = cause.line,
            let innerColumn = cause.column
        else { return "Line \(line): \(error)" }
        let place = innerLine == 1 ? column + innerColumn - 1 : innerColumn
        return "Line \(line + innerLine - 1), column \(place): \(cause.message)"
    }
}
