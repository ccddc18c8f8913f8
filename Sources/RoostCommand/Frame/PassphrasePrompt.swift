import Foundation
import Roost

/// Asks for a passphrase on the terminal, without showing it.
enum PassphrasePrompt {
    /// The passphrase that is typed; `nil` where there is no terminal to ask on, and for an empty one.
    ///
    /// - Throws: ``Interrupted`` for Ctrl-C.
    static func ask(_ question: String) throws -> EncryptionKey? {
        try withBytes(question) { .passphrase(bytes: $0) }
    }

    /// What is typed, such as a password for a server; `nil` as ``ask(_:)`` has it.
    ///
    /// - Throws: ``Interrupted`` for Ctrl-C.
    static func text(_ question: String) throws -> String? {
        try withBytes(question) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with what is typed, of which nothing is left then.
    private static func withBytes<R>(_ question: String, _ body: ([UInt8]) -> R) throws -> R? {
        guard Console.isTerminal(STDIN_FILENO) else { return nil }
        try Console.flush()
        let terminal = RawTerminal()
        return try terminal.set(.keys) {
            // Not before what is typed isn't shown.
            try? OutputFile.write(Array(question.utf8)[...], to: STDERR_FILENO)
            defer { try? OutputFile.write([10], to: STDERR_FILENO) }
            var bytes: [UInt8] = []
            defer { for index in bytes.indices { bytes[index] = 0 } }
            while let byte = terminal.byte() {
                switch byte {
                case RawTerminal.controlC: throw Interrupted()
                case 4, 10, 13: return bytes.isEmpty ? nil : body(bytes)
                case 8, 127: removeCharacter(&bytes)
                case 21: bytes.removeAll()
                default: bytes.append(byte)
                }
            }
            return nil
        }
    }

    /// Removes the last character in UTF-8: its last byte, and what that goes on from.
    private static func removeCharacter(_ bytes: inout [UInt8]) {
        while let last = bytes.popLast(), 0x80..<0xC0 ~= last {}
    }
}

/// The user pressed Ctrl-C at a question.
struct Interrupted: Error {}
