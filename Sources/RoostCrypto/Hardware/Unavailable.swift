#if !(arch(x86_64) || arch(arm64))
    /// What this processor can do, asked once: nothing, because nothing here is written for its kind.
    enum Processor {
        static let hasAES = false
        static let hasWideAES = false
        static let hasSHA1 = false
        static let hasSHA256 = false
    }

    typealias HardwareAES = PortableAES
    extension PortableAES {
        static func invertKeys(_ inverse: UnsafeMutableRawPointer, _ standard: UnsafeRawPointer) {}
    }

    typealias HardwareGCM = PortableGCM
    typealias HardwareSHA1 = PortableSHA1
    typealias HardwareSHA256 = PortableSHA256
#endif
