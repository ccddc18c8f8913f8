/// The version of Roost: of the library, the tool and the server.
public enum RoostVersion {
    /// The number, by Semantic Versioning: `0.1.0`.
    public static let number = "0.1.0"
}
