#if HardwareCrypto && arch(x86_64)
    import _Builtin_intrinsics.intel.cpuid

    /// What this processor can do, asked once.
    enum Processor {
        /// AES-NI, PCLMULQDQ and SSSE3.
        static let hasAES = leaf1.isSuperset(of: [.aes, .carrylessMultiply, .ssse3])
        /// The SHA extensions, SSSE3 and SSE4.1.
        static let hasSHA1 = hasSHAExtensions && leaf1.isSuperset(of: [.ssse3, .sse41])
        static let hasSHA256 = hasSHA1

        /// Bits of ECX that CPUID answers to leaf 1.
        private struct Features: OptionSet {
            let rawValue: UInt32
            static let carrylessMultiply = Features(rawValue: 1 << 1)
            static let ssse3 = Features(rawValue: 1 << 9)
            static let sse41 = Features(rawValue: 1 << 19)
            static let aes = Features(rawValue: 1 << 25)
        }

        private static let leaf1: Features = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid(1, &a, &b, &c, &d) == 1 ? Features(rawValue: c) : []
        }()

        /// Bit 29 of EBX of leaf 7.
        private static let hasSHAExtensions: Bool = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 && b & (1 << 29) != 0
        }()
    }
#endif
