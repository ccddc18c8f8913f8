import RoostQuery

/// Numbers of things as people say them.
enum Count {
    /// The number and the word that goes with it: `one` for 1, for any other `many`, which is `one` with an s if not given.
    static func text(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? one : many ?? one + "s")"
    }

    /// The digits of a number, with commas between thousands.
    static func grouped(_ count: some BinaryInteger) -> String { Explanation.grouped(Int(clamping: count)) }
}
