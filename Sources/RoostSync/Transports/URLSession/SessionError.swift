#if !os(Linux) || ROOST_URLSESSION
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension TransportError {
        /// What a session says went wrong. Its words hold no credentials.
        init(_ error: any Error, at host: String) {
            var text = error.localizedDescription
            if text.hasSuffix(".") { text.removeLast() }
            self.init(Self.kind(of: (error as? URLError)?.code), "\(host): \(text).")
        }

        private static func kind(of code: URLError.Code?) -> Code {
            switch code {
            case .serverCertificateUntrusted?, .serverCertificateHasBadDate?,
                .serverCertificateHasUnknownRoot?,
                .serverCertificateNotYetValid?, .clientCertificateRejected?, .clientCertificateRequired?:
                .untrusted
            case .timedOut?: .timedOut
            case .networkConnectionLost?, .requestBodyStreamExhausted?, .cancelled?: .interrupted
            case .badServerResponse?, .cannotParseResponse?, .cannotDecodeContentData?, .cannotDecodeRawData?,
                .dataLengthExceedsMaximum?, .zeroByteResource?:
                .malformed
            case .badURL?, .unsupportedURL?, .appTransportSecurityRequiresSecureConnection?: .invalidAddress
            default: .unreachable
            }
        }
    }
#endif
