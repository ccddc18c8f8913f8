#if arch(arm64)
    import CRoostHardware

    /// What this processor can do, asked once.
    enum Processor {
        /// AES and the 64-bit polynomial multiplication.
        static let hasAES = capabilities.isSuperset(of: [.aes, .polynomialMultiply])
        /// There are no instructions for several blocks at once.
        static let hasWideAES = false
        static let hasSHA1 = capabilities.contains(.sha1)
        static let hasSHA256 = capabilities.contains(.sha256)

        /// Bits of AT_HWCAP on Linux.
        private struct Capabilities: OptionSet {
            let rawValue: UInt
            static let aes = Capabilities(rawValue: 1 << 3)
            static let polynomialMultiply = Capabilities(rawValue: 1 << 4)
            static let sha1 = Capabilities(rawValue: 1 << 5)
            static let sha256 = Capabilities(rawValue: 1 << 6)
        }

        private static let capabilities: Capabilities = {
            #if canImport(Darwin)
                // Every arm64 processor of Apple's has them.
                return [.aes, .polynomialMultiply, .sha1, .sha256]
            #elseif os(Linux) || os(Android)
                return Capabilities(rawValue: UInt(getauxval(UInt(AT_HWCAP))))
            #else
                return []
            #endif
        }()
    }
#endif
