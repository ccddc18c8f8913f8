#if !os(Linux) || ROOST_URLSESSION
    import Foundation
    import TestCertificates
    import Testing

    @testable import RoostSync

    /// What is pinned of a certificate, compared with what OpenSSL makes of its key.
    @Suite struct PublicKeyPinTests {
        private let certificates: TestCertificates

        init() throws { certificates = try TestCertificates() }

        private func text(_ pair: TestCertificates.Pair) throws -> String {
            try String(contentsOfFile: pair.certificate, encoding: .utf8)
        }

        @Test func itIsThatOfTheKey() throws {
            let large = try certificates.signItself("large", withRSA: true)
            let alone = try certificates.signItself("alone")
            for pair in [try certificates.issue(), certificates.authority, alone, large] {
                let found = try #require(CertificateText.certificates(in: text(pair)))
                #expect(found.count == 1)
                #expect(try PublicKeyPin.of(found[0]) == certificates.pin(of: pair))
            }
        }

        @Test func whatIsNoCertificateHasNone() throws {
            let whole = try #require(CertificateText.certificates(in: text(certificates.issue()))?.first)
            for count in 0..<whole.count { #expect(PublicKeyPin.of(Array(whole[..<count])) == nil) }
            for place in 0..<whole.count {
                var damaged = whole
                // A length of what looks like four billion bytes, or none.
                damaged[place] = 0x84
                _ = PublicKeyPin.of(damaged)
                damaged[place] = 0xFF
                _ = PublicKeyPin.of(damaged)
            }
            #expect(PublicKeyPin.of([]) == nil)
            #expect(PublicKeyPin.of(Array("-----BEGIN CERTIFICATE-----".utf8)) == nil)
        }

        @Test func allCertificatesOfATextAreFound() throws {
            let one = try text(certificates.issue())
            let two = try text(certificates.authority)
            let first = one.replacing("\n", with: "\r\n")
            let both = "the first\r\n" + first + "\nand another \n" + two + "end\n"
            #expect(CertificateText.certificates(in: both)?.count == 2)
            for damaged in [
                "", "no certificate", one.replacing("END CERTIFICATE", with: "END"),
                one.replacing("-----\n", with: "-----\n!", maxReplacements: 1),
                "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
                one + "-----BEGIN CERTIFICATE-----\n",
            ] {
                #expect(CertificateText.certificates(in: damaged) == nil)
            }
        }
    }
#endif
