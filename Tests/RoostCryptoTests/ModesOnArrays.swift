import RoostCrypto

/// The modes of operation on arrays, for tests.
extension AES256 {
    convenience init(_ key: [UInt8], _ path: ExecutionPath) throws {
        try self.init(key: SymmetricKey(key), path: path)
    }

    func encryptBlock(_ block: [UInt8]) -> [UInt8] { encrypt(Block128(block)).bytes }

    func decryptBlock(_ block: [UInt8]) -> [UInt8] { decrypt(Block128(block)).bytes }

    func applyCTR(_ input: [UInt8], counter: [UInt8], offset: UInt64 = 0) -> [UInt8] {
        var stream = CTR(self, initialCounter: Block128(counter), offset: offset)
        return stream.apply(input)
    }

    func encryptCBC(_ input: [UInt8], _ vector: [UInt8]) -> [UInt8] {
        var chain = CBCEncryption(self, initializationVector: Block128(vector))
        return chain.encrypt(input)
    }

    func decryptCBC(_ input: [UInt8], _ vector: [UInt8]) -> [UInt8] {
        var chain = CBCDecryption(self, initializationVector: Block128(vector))
        return chain.decrypt(input)
    }

    func encryptCBCPadded(_ input: [UInt8], _ vector: [UInt8]) -> [UInt8] {
        let chain = CBCEncryption(self, initializationVector: Block128(vector))
        var output = [UInt8](repeating: 0xEE, count: AES256.paddedByteCount(input.count))
        unsafe input.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { unsafe chain.finish(input, into: $0) }
        }
        return output
    }

    func decryptCBCPadded(_ input: [UInt8], _ vector: [UInt8]) throws -> [UInt8] {
        let chain = CBCDecryption(self, initializationVector: Block128(vector))
        var output = [UInt8](repeating: 0xEE, count: input.count)
        let count = unsafe try input.withUnsafeBytes { input in
            unsafe try output.withUnsafeMutableBytes { unsafe try chain.finish(input, into: $0) }
        }
        return Array(output[..<count])
    }
}

extension AES256.CTR {
    mutating func apply(_ input: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: input.count)
        unsafe input.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { unsafe apply(input, into: $0) }
        }
        return output
    }
}

extension AES256.CBCEncryption {
    mutating func encrypt(_ input: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: input.count)
        unsafe input.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { unsafe encrypt(input, into: $0) }
        }
        return output
    }
}

extension AES256.CBCDecryption {
    mutating func decrypt(_ input: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: input.count)
        unsafe input.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { unsafe decrypt(input, into: $0) }
        }
        return output
    }
}

extension AES256GCM {
    convenience init(_ key: [UInt8], _ path: ExecutionPath) throws {
        try self.init(key: SymmetricKey(key), path: path)
    }

    /// The ciphertext followed by the tag.
    func seal(_ plaintext: [UInt8], nonce: [UInt8], aad: [UInt8] = []) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: plaintext.count + 16)
        unsafe withBytes(plaintext, nonce, aad) { plaintext, nonce, aad in
            unsafe output.withUnsafeMutableBytes {
                unsafe seal(plaintext, into: $0, nonce: nonce, authenticating: aad)
            }
        }
        return output
    }

    func open(_ sealed: [UInt8], nonce: [UInt8], aad: [UInt8] = []) throws -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: max(0, sealed.count - 16))
        unsafe try withBytes(sealed, nonce, aad) { sealed, nonce, aad in
            unsafe try output.withUnsafeMutableBytes {
                unsafe try open(sealed, into: $0, nonce: nonce, authenticating: aad)
            }
        }
        return output
    }
}

extension Block128 {
    init(_ bytes: [UInt8]) {
        precondition(bytes.count == 16)
        self = unsafe bytes.withUnsafeBytes { unsafe Block128(loading: $0.baseAddress!) }
    }

    var bytes: [UInt8] { unsafe withUnsafeBytes(of: self) { unsafe Array($0) } }
}

/// Lends the bytes of three arrays.
private func withBytes<Result>(
    _ a: [UInt8], _ b: [UInt8], _ c: [UInt8],
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    unsafe try a.withUnsafeBytes { a in
        unsafe try b.withUnsafeBytes { b in unsafe try c.withUnsafeBytes { c in unsafe try body(a, b, c) } }
    }
}
