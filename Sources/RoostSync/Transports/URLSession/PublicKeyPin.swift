#if !os(Linux) || ROOST_URLSESSION
    import RoostBytes
    import RoostCrypto

    /// What clients pin of a certificate: SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4), in base64.
    enum PublicKeyPin {
        /// The pin of a certificate in DER (RFC 5280, section 4.1); `nil` for what is none.
        static func of(_ certificate: [UInt8]) -> String? {
            var outer = DERElements(certificate[...])
            guard let whole = outer.next(.sequence) else { return nil }
            var parts = DERElements(whole.content)
            guard let signed = parts.next(.sequence) else { return nil }
            var fields = DERElements(signed.content)
            _ = fields.next(.version)
            // Serial number, algorithm of the signature, issuer, validity, subject.
            for tag in [DERElements.Tag.integer, .sequence, .sequence, .sequence, .sequence] {
                guard fields.next(tag) != nil else { return nil }
            }
            guard let key = fields.next(.sequence) else { return nil }
            return Base64.encode(SHA256.hash(Array(key.whole)).bytes)
        }
    }

    /// Elements of ASN.1's distinguished encoding, one after the other (X.690, section 8.1).
    private struct DERElements {
        enum Tag: UInt8 {
            case integer = 0x02
            case sequence = 0x30
            /// The first field of a certificate, which may be missing.
            case version = 0xA0
        }

        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        /// The next element, where it has that tag.
        mutating func next(_ tag: Tag) -> (whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
            guard rest.first == tag.rawValue, var length = rest.dropFirst().first.map({ Int($0) }) else {
                return nil
            }
            var head = 2
            if length >= 0x80 {
                // Four bytes of length are more than any certificate has.
                let digits = rest.dropFirst(2).prefix(length - 0x80)
                guard length - 0x80 <= 4, digits.count == length - 0x80 else { return nil }
                head += digits.count
                length = digits.reduce(0) { $0 << 8 | Int($1) }
            }
            let whole = rest.prefix(head + length)
            guard whole.count == head + length else { return nil }
            rest = rest.dropFirst(head + length)
            return (whole, whole.dropFirst(head))
        }
    }
#endif
