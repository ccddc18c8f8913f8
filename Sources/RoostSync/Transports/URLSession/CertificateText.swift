#if !os(Linux) || ROOST_URLSESSION
    import RoostBytes

    /// Certificates as text (RFC 7468).
    enum CertificateText {
        /// The certificates in `text`, in DER; text between and around them is skipped. `nil` where one is damaged, or none
        /// there.
        static func certificates(in text: String) -> [[UInt8]]? {
            var certificates: [[UInt8]] = []
            var lines: [UInt8]?
            for line in text.split(whereSeparator: \.isNewline) {
                switch line.trimmingSpace {
                case "-----BEGIN CERTIFICATE-----":
                    guard lines == nil else { return nil }
                    lines = []
                case "-----END CERTIFICATE-----":
                    guard let whole = lines, let bytes = Base64.decode(whole), !bytes.isEmpty else {
                        return nil
                    }
                    certificates.append(bytes)
                    lines = nil
                case let digits:
                    lines?.append(contentsOf: digits.utf8)
                }
            }
            return lines == nil && !certificates.isEmpty ? certificates : nil
        }
    }

    extension Substring {
        fileprivate var trimmingSpace: Substring {
            var text = drop { $0.isWhitespace }
            while text.last?.isWhitespace == true { text.removeLast() }
            return text
        }
    }
#endif
