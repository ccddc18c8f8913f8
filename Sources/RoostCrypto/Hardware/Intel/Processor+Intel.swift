#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel.cpuid

    /// What this processor can do, asked once.
    enum Processor {
        /// AES-NI, PCLMULQDQ and SSSE3.
        static let hasAES = leaf1.isSuperset(of: [.aes, .carrylessMultiply, .ssse3])
        /// VAES, VPCLMULQDQ and AVX2, with an operating system that saves the registers of 256 bits.
        static let hasWideAES: Bool = {
            guard hasAES, leaf1.isSuperset(of: [.osxsave, .avx]), roost_saved_registers() & 6 == 6 else {
                return false
            }
            let (vaes, vpclmulqdq, avx2): (UInt32, UInt32, UInt32) = (1 << 9, 1 << 10, 1 << 5)
            return leaf7.b & avx2 != 0 && leaf7.c & vaes != 0 && leaf7.c & vpclmulqdq != 0
        }()
        /// The SHA extensions, SSSE3 and SSE4.1.
        static let hasSHA1 = leaf7.b & (1 << 29) != 0 && leaf1.isSuperset(of: [.ssse3, .sse41])
        static let hasSHA256 = hasSHA1

        /// Bits of ECX that CPUID answers to leaf 1.
        private struct Features: OptionSet {
            let rawValue: UInt32
            static let carrylessMultiply = Features(rawValue: 1 << 1)
            static let ssse3 = Features(rawValue: 1 << 9)
            static let sse41 = Features(rawValue: 1 << 19)
            static let aes = Features(rawValue: 1 << 25)
            static let osxsave = Features(rawValue: 1 << 27)
            static let avx = Features(rawValue: 1 << 28)
        }

        private static let leaf1: Features = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid(1, &a, &b, &c, &d) == 1 ? Features(rawValue: c) : []
        }()

        /// EBX and ECX that CPUID answers to leaf 7.
        private static let leaf7: (b: UInt32, c: UInt32) = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 ? (b, c) : (0, 0)
        }()
    }
#endif
