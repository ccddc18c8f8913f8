/// Why a view can't answer.
public struct ViewError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The code's name.
        public let rawValue: String

        /// A code of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Parameters that don't go together, or have no such values.
        public static let invalidParameters = Self(rawValue: "invalidParameters")
        /// Values that the view's reduction can't reduce.
        public static let notReducible = Self(rawValue: "notReducible")
        /// There is no such view or design document.
        public static let notFound = Self(rawValue: "notFound")
        /// A view of a design document that is written wrongly.
        public static let invalidView = Self(rawValue: "invalidView")
        /// A view of a design document in a language that nobody here compiles.
        public static let unsupportedLanguage = Self(rawValue: "unsupportedLanguage")
    }

    /// What kind of error it is.
    public let code: Code
    /// A sentence for people that ends in what to do.
    public let message: String

    /// An error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
