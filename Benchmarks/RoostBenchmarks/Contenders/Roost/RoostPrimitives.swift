import Glibc
import RoostCrypto

/// Roost's own ciphers and hash functions.
final class RoostPrimitives: PrimitiveContender {
    private let key = SymmetricKey(Array(0..<32))
    private var input = [UInt8](repeating: 7, count: Primitive.messageSize)
    private var output = [UInt8](repeating: 0, count: Primitive.messageSize + AES256GCM.tagByteCount)

    func rate(_ primitive: Primitive, _ path: PrimitivePath, seconds: Double) throws -> Double {
        let path: ExecutionPath = path == .portable ? .portable : .hardware
        switch primitive {
        case .gcm: return try sealing(path, seconds)
        case .ctr: return try counting(path, seconds)
        case .cbcEncryption: return try chaining(path, seconds)
        case .cbcChains: return try chainingSideBySide(path, seconds)
        case .cbcDecryption: return try unchaining(path, seconds)
        case .sha1: return hashing(SHA1.self, path, seconds)
        case .sha256: return hashing(SHA256.self, path, seconds)
        case .md5: return hashing(MD5.self, path, seconds)
        case .hmac: return authenticating(path, seconds)
        case .pbkdf2: return deriving(path, seconds)
        }
    }

    private func sealing(_ path: ExecutionPath, _ seconds: Double) throws -> Double {
        let cipher = try AES256GCM(key: key, path: path)
        var number: UInt64 = 0
        return unsafe measure(seconds) { text, output in
            number += 1
            let nonce = (number, UInt32(0))
            unsafe withUnsafeBytes(of: nonce) { nonce in
                unsafe cipher.seal(
                    text, into: output, nonce: UnsafeRawBufferPointer(rebasing: nonce[..<12]),
                    authenticating: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }

    private func counting(_ path: ExecutionPath, _ seconds: Double) throws -> Double {
        var stream = AES256.CTR(try AES256(key: key, path: path), initialCounter: .zero)
        return unsafe measure(seconds) { text, output in
            unsafe stream.apply(text, into: UnsafeMutableRawBufferPointer(rebasing: output[..<text.count]))
        }
    }

    private func chaining(_ path: ExecutionPath, _ seconds: Double) throws -> Double {
        var chain = AES256.CBCEncryption(try AES256(key: key, path: path), initializationVector: .zero)
        return unsafe measure(seconds) { text, output in
            unsafe chain.encrypt(text, into: UnsafeMutableRawBufferPointer(rebasing: output[..<text.count]))
        }
    }

    private func chainingSideBySide(_ path: ExecutionPath, _ seconds: Double) throws -> Double {
        let cipher = try AES256(key: key, path: path)
        return unsafe measure(seconds) { text, output in
            unsafe cipher.encryptChains(
                text, into: UnsafeMutableRawBufferPointer(rebasing: output[..<text.count]),
                chainByteCount: text.count / 8, initializationVector: { Block128(bigEndian: 0, UInt64($0)) })
        }
    }

    private func unchaining(_ path: ExecutionPath, _ seconds: Double) throws -> Double {
        var chain = AES256.CBCDecryption(try AES256(key: key, path: path), initializationVector: .zero)
        return unsafe measure(seconds) { text, output in
            unsafe chain.decrypt(text, into: UnsafeMutableRawBufferPointer(rebasing: output[..<text.count]))
        }
    }

    private func hashing<Hash: HashFunction>(
        _: Hash.Type, _ path: ExecutionPath, _ seconds: Double
    ) -> Double {
        unsafe measure(seconds) { text, output in
            var hash = Hash(path: path)
            unsafe hash.update(text)
            unsafe hash.finalize().withUnsafeBytes { unsafe output.copyMemory(from: $0) }
        }
    }

    private func authenticating(_ path: ExecutionPath, _ seconds: Double) -> Double {
        unsafe measure(seconds) { text, output in
            var code = HMAC<SHA256>(key: key, path: path)
            unsafe code.update(text)
            unsafe code.finalize().withUnsafeBytes { unsafe output.copyMemory(from: $0) }
        }
    }

    private func deriving(_ path: ExecutionPath, _ seconds: Double) -> Double {
        let rounds = 100_000
        var derivations = 0
        let start = Self.processorTime()
        repeat {
            _ = PBKDF2.deriveKeyWithSHA256(
                password: key, salt: Array(0..<16), rounds: rounds, path: path)
            derivations += 1
        } while Self.processorTime() - start < seconds
        return Double(derivations * rounds) / (Self.processorTime() - start)
    }

    /// 10⁶ bytes that `body` takes per second of processor time.
    private func measure(
        _ seconds: Double, _ body: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Void
    ) -> Double {
        unsafe input.withUnsafeBytes { text in
            unsafe output.withUnsafeMutableBytes { output in
                var messages = 0
                let start = Self.processorTime()
                repeat {
                    for _ in 0..<256 { unsafe body(text, output) }
                    messages += 256
                } while Self.processorTime() - start < seconds
                return Double(messages * text.count) / (Self.processorTime() - start) / 1e6
            }
        }
    }

    /// Seconds of user time, which `openssl speed` divides by as well.
    private static func processorTime() -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    }
}
