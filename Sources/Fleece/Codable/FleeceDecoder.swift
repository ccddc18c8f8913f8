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

// MARK: - DecodableWithDefaults

/// A Codable type whose properties may be missing where it is decoded from: they get the values that `init()` gives them.
///
/// So documents that were saved before the type got a property are read as if it had been there. Where all properties have
/// defaults, the compiler makes `init()`:
///
/// ```swift
/// struct Note: Codable, DecodableWithDefaults {
///     var title = ""
///     var stars = 3            // 3 in a document without "stars"
/// }
/// ```
///
/// For properties without a default write one, in an extension if the memberwise initializer is to stay:
///
/// ```swift
/// extension Note: DecodableWithDefaults { init() { self.init(title: "") } }
/// ```
///
/// ``FleeceDecoder`` asks for them only when a key is missing, for each value anew: a default `Date()` is the time of
/// reading. A property that is there and null is no missing one. An optional property that is missing is `nil`, whatever
/// its default, since that is how `nil` is stored.
public protocol DecodableWithDefaults: Codable {
    /// A value with the defaults of all properties.
    init()
}

extension ValueDecoder {
    /// What the type that is being decoded has for a missing key; undefined when it has no defaults.
    func defaultValue(_ key: String) throws -> FleeceValue {
        if defaults == nil {
            guard let type = type as? any DecodableWithDefaults.Type else { return .undefined }
            var encoder = FleeceEncoder()
            encoder.dateStrategy = dateStrategy
            defaults = FleeceDocument(trusting: try encoder.encode(type.init())).root
        }
        return defaults?[key] ?? .undefined
    }
}
