import Foundation

/// Errors as people read them.
///
/// Interpolating an error that Swift or Foundation made shows the names of types, or an error's domain and number. Every message that
/// may hold such an error is made from ``sentence`` instead.
extension Error {
    /// What went wrong, as a sentence for people: never the name of a type, a domain or a number alone.
    package var sentence: String {
        switch self {
        case let error as DecodingError: error.reason
        case let error as EncodingError: error.reason
        case let error as CocoaError: error.reason
        case let error as POSIXError: SystemMessage.text(error.code.rawValue) + "."
        case is CancellationError: "It was cancelled."
        default: ownSentence
        }
    }

    /// The description of a type that gives one of its own, which Foundation's bridged errors do not.
    private var ownSentence: String {
        if type(of: self) is NSError.Type || self is any CustomNSError {
            return SystemMessage.sentence((self as NSError).localizedDescription)
        }
        if let error = self as? any LocalizedError, let text = error.errorDescription { return text }
        // A cast of the value would find what Foundation's bridging gives every error.
        guard type(of: self) is any CustomStringConvertible.Type else {
            return "It failed, and the reason is not known."
        }
        return "\(self)"
    }
}

extension DatabaseError {
    /// What the failure of a call to the file system means, other than of the engine's own files.
    ///
    /// - Parameters:
    ///   - error: What Foundation threw.
    ///   - attempt: What failed, without a full stop: "The directory x can't be made".
    package init(_ error: any Error, _ attempt: String) {
        let cocoa = error as? CocoaError
        let code: Code =
            switch (cocoa?.code, cocoa?.systemCode) {
            case (.fileNoSuchFile, _), (.fileReadNoSuchFile, _), (_, .ENOENT): .notFound
            case (.fileWriteFileExists, _), (_, .EEXIST): .alreadyExists
            case (.fileReadNoPermission, _), (.fileWriteNoPermission, _), (.fileWriteVolumeReadOnly, _),
                (_, .EACCES), (_, .EPERM), (_, .EROFS):
                .permissionDenied
            case (.fileWriteOutOfSpace, _), (_, .ENOSPC): .noSpace
            default: .inputOutput
            }
        self.init(code, "\(attempt): \(error.sentence)", underlyingError: error)
    }
}

/// Texts of the system's.
private enum SystemMessage {
    static func text(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }

    /// A text of Foundation's, unless it is the one for errors that have none, which names the type or the domain.
    static func sentence(_ text: String) -> String {
        guard !text.isEmpty, !text.contains(" error "), !text.contains("Domain") else {
            return "It failed, and the reason is not known."
        }
        return text
    }
}

extension CocoaError {
    /// The number of the system's error that led to it.
    fileprivate var systemCode: POSIXErrorCode? {
        (underlying as? POSIXError)?.code
    }

    fileprivate var reason: String {
        let file = filePath ?? url?.path ?? "The file"
        switch code {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "\(file) does not exist."
        case .fileWriteFileExists: return "\(file) exists already."
        case .fileReadNoPermission, .fileWriteNoPermission: return "\(file): permission denied."
        case .fileWriteOutOfSpace: return "\(file): the disk is full. Free some space and try again."
        case .fileWriteVolumeReadOnly: return "\(file) is on a medium that can only be read."
        case .fileReadInapplicableStringEncoding, .fileReadCorruptFile:
            return "\(file) is not text in UTF-8."
        default:
            let reason = systemCode.map { SystemMessage.text($0.rawValue) }
            return "\(file) can't be used\(reason.map { ": \($0)" } ?? "")."
        }
    }
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .keyNotFound(let key, let context):
            return "\(context.codingPath.place(with: key)) is missing."
        case .valueNotFound(let wanted, let context):
            return "\(context.codingPath.place()) is null, where \(Kind.name(of: wanted)) is expected."
        case .typeMismatch(let wanted, let context):
            return "\(context.codingPath.place()) is not \(Kind.name(of: wanted))."
        case .dataCorrupted(let context):
            return
                "\(context.codingPath.place()) has a value that cannot be right: \(context.debugDescription)"
        @unknown default: return "A value cannot be read."
        }
    }
}

extension EncodingError {
    fileprivate var reason: String {
        switch self {
        case .invalidValue(_, let context):
            return "\(context.codingPath.place()) can't be stored: \(context.debugDescription)"
        @unknown default: return "A value can't be stored."
        }
    }
}

extension [any CodingKey] {
    /// The path to a value: `The property address.lines[2]`.
    fileprivate func place(with last: (any CodingKey)? = nil) -> String {
        var path = ""
        for key in self + (last.map { [$0] } ?? []) {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return path.isEmpty ? "The value" : "The property \(path)"
    }
}

/// What people call the types that values are read as.
private enum Kind {
    static func name(of type: Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is String.Type: "text"
        case is any BinaryInteger.Type: "a whole number in range"
        case is any FloatingPoint.Type, is Decimal.Type: "a number"
        case is Date.Type: "a date"
        case is Data.Type: "data"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "what is expected"
        }
    }
}
