import Roost

/// The values of META().
enum Metadata {
    static func value(_ field: MetaField, _ frame: Frame, _ source: Int) -> Value {
        guard let row = frame.rowMetadata(source) else { return .missing }
        switch field {
        case .id: return .string(row.id)
        case .sequence: return row.body.map { .integer(Int64(clamping: $0.sequence)) } ?? .missing
        case .deleted: return row.body.map { .bool($0.isDeleted) } ?? .missing
        // Milliseconds since 1970, as in LiteCore.
        case .expiration:
            return row.body?.expiration.map { .integer(Int64(clamping: $0 / 1000)) } ?? .missing
        case .revisionID: return row.body.map { frame.string("\($0.revision)") } ?? .missing
        case .attachments, .conflicts: return .missing
        }
    }

    static func all(_ frame: Frame, _ source: Int) -> Value {
        guard frame.rowMetadata(source) != nil else { return .missing }
        return frame.collection { writer in
            writer.beginDictionary()
            for field in MetaField.whole {
                let value = value(field, frame, source)
                guard !value.isMissing else { continue }
                writer.key(field.rawValue)
                writer.write(value)
            }
            writer.endDictionary()
        }
    }
}
