/// Turns values of Fleece bodies into `Decodable` values.
///
/// Only what the type asks for is read. Integers are accepted for floating-point properties and whole numbers for
/// integer ones, if they fit. `Date` is read from an ISO 8601 string or, by the strategy, from a number; `Decimal` from a
/// number or a string; `Data` from data or a Base64 string; `URL` from a string; a ``FleeceValue`` is taken as it is and
/// keeps its document. Keys that are missing are errors, but for optional properties and ``DecodableWithDefaults``.
public struct FleeceDecoder {
    /// What a number stands for where a date is wanted; a string is always ISO 8601.
    ///
    /// With ``FleeceDateStrategy/iso8601``, as it is unless set, a number is an error.
    public var dateStrategy = FleeceDateStrategy.iso8601

    /// What `init(from:)` of the values finds in `decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// What the root has under the key `id` or `_id`, whatever the value says.
    package var identifier: String?

    /// A decoder with the usual strategy.
    public init() {}

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` with the path to what is missing or of another type, and whatever the type's
    ///   `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: FleeceValue) throws -> T {
        let state = DecodingState(dateStrategy: dateStrategy, userInfo: userInfo)
        return try ValueDecoder(root: value, identifier: identifier, state: state).decode(type)
    }
}

/// What all decoders of one call share.
final class DecodingState {
    let dateStrategy: FleeceDateStrategy
    let userInfo: [CodingUserInfoKey: any Sendable]

    init(dateStrategy: FleeceDateStrategy, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.dateStrategy = dateStrategy
        self.userInfo = userInfo
    }
}
