import Foundation
import Roost

/// Where the key of an encrypted database comes from: a file, or a prompt; never the command line, which other users
/// of the machine can read.
enum KeyAccess {
    static let options = [
        Option("--key-file", "FILE", "the database's key: 32 bytes, or 64 hexadecimal digits"),
        Option("--passphrase-file", "FILE", "the database's passphrase: the first line of FILE"),
    ]

    /// The key that commands take where they are given none: that of the shell they are called from.
    @TaskLocal static var remembered: EncryptionKey?

    /// The key that the options of these names lead to; `nil` where none was given.
    static func key(
        _ invocation: Invocation, keyFile: String = "--key-file", passphraseFile: String = "--passphrase-file"
    ) throws -> EncryptionKey? {
        switch (invocation.string(keyFile), invocation.string(passphraseFile)) {
        case (nil, nil): return nil
        case (let path?, nil): return try key(inFile: path)
        case (nil, let path?): return try passphrase(inFile: path)
        default: throw UsageError("Give \(keyFile) or \(passphraseFile), not both.")
        }
    }

    private static func key(inFile path: String) throws -> EncryptionKey {
        let bytes = try read(path)
        if bytes.count == EncryptionKey.byteCount { return try EncryptionKey(bytes: bytes) }
        let digits = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let pairs = stride(from: 0, to: digits.utf8.count - 1, by: 2).map { offset in
            UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
        }
        guard digits.utf8.count == 64, !pairs.contains(nil) else {
            throw CommandFailure("\(path) holds no key: 32 bytes, or 64 hexadecimal digits.")
        }
        return try EncryptionKey(bytes: pairs.compactMap { $0 })
    }

    private static func passphrase(inFile path: String) throws -> EncryptionKey {
        let line = try read(path).prefix { $0 != 10 && $0 != 13 }
        guard !line.isEmpty else { throw CommandFailure("\(path) holds no passphrase in its first line.") }
        return .passphrase(bytes: Array(line))
    }

    private static func read(_ path: String) throws -> [UInt8] {
        try InputFile(path).readAll(limit: 1 << 20)
    }
}
