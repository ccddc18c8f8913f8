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
