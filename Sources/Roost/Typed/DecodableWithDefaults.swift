import Fleece

/// A Codable type whose properties may be missing from a document: they get the values that `init()` gives them. See
/// `Fleece.DecodableWithDefaults`.
public typealias DecodableWithDefaults = Fleece.DecodableWithDefaults
