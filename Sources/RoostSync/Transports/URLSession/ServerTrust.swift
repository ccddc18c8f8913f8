#if canImport(Darwin)
    import Foundation
    import Security

    // Not yet run: Foundation on Linux does not let a program look at a server's certificate.

    extension HTTPOptions {
        /// What is wrong with a server's certificates, including what the system itself reports; `nil` if nothing is.
        func objection(to trust: SecTrust) -> String? {
            if let certificates {
                guard let texts = CertificateText.certificates(in: certificates) else {
                    return "the certificates to trust are none in PEM"
                }
                let anchors = texts.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
                // The second call keeps those that the system trusts.
                guard anchors.count == texts.count,
                    SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
                    SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess
                else { return "the certificates to trust can't be used" }
            }
            var error: CFError?
            guard unsafe SecTrustEvaluateWithError(trust, &error) else {
                return error.map { CFErrorCopyDescription($0) as String } ?? "its certificate is not trusted"
            }
            guard !pinnedKeys.isEmpty else { return nil }
            guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let own = chain.first,
                let pin = PublicKeyPin.of([UInt8](SecCertificateCopyData(own) as Data)),
                pinnedKeys.contains(pin)
            else { return "its public key is none of those that are pinned" }
            return nil
        }
    }
#endif
