import RoostBytes

/// The file header and commit records, field by field: FileFormat.md, sections 3 and 4. Reserved bytes are left out, and so
/// is the salt.
extension FieldReader {
    func readHeader() throws(MalformedBytes) {
        try raw(8, "magic")
        try number(4, "format version")
        try raw(4)
        try number(8, "features that may be ignored", FieldText.hexadecimal)
        try number(8, "features that forbid writing", FieldText.hexadecimal)
        try number(8, "features that forbid everything", FieldText.hexadecimal)
        try raw(16, "store identifier")
        try raw(16, "file identifier")
        // Not shown: whoever knows it can make values that look like commits, and listings get passed around.
        try raw(8)
        try number(8, "made at")
        try number(8, "generation")
        try raw(4)
        let length = try number(4, "length of the transform's parameters")
        guard length <= UInt64(FileHeader.maximumParameterLength) else { throw MalformedBytes(at: position) }
        try raw(Int(length), "transform parameters")
        position = Format.blockSize - 8
        try number(8, "checksum", FieldText.hexadecimal)
    }

    func readRecord() throws(MalformedBytes) {
        try raw(8, "magic of a commit record")
        try number(1, "kind") { "\($0), \(FieldText.commitKind($0))" }
        try raw(7)
        for name in ["number", "offset", "start", "previous"] { try number(8, name) }
        try number(8, "previous checksum", FieldText.hexadecimal)
        for name in ["checkpoint", "replay after", "synced end", "time"] { try number(8, name) }
        for name in ["last operations", "directory"] { try number(8, "offset of the \(name)") }
        for name in ["last operations", "directory"] { try number(4, "length of the \(name)") }
        try number(8, "checksum of the commit's content", FieldText.hexadecimal)
        try number(8, "live bytes")
        // Zeros without a transform.
        let sealed = try raw(CommitRecord.size - 8 - position)
        if !sealed.array.allSatisfy({ $0 == 0 }) {
            position -= sealed.count
            try number(8, "history", FieldText.hexadecimal)
            try raw(CommitRecord.tagLength, "tag of the record before")
            try raw(16)
            try raw(CommitRecord.tagLength, "tag")
        }
        try number(8, "checksum", FieldText.hexadecimal)
    }
}

extension FieldText {
    static func commitKind(_ value: UInt64) -> String {
        switch CommitRecord.Kind(rawValue: UInt8(truncatingIfNeeded: value)) {
        case .log: "log"
        case .checkpoint: "checkpoint"
        case .cleanShutdown: "clean shutdown"
        case .barrier: "barrier"
        case nil: "unknown"
        }
    }
}
