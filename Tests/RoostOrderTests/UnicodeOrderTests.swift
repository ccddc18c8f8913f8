import RoostBytes
import Testing

@testable import RoostOrder

/// Texts in Unicode's order, with its options.
@Suite struct UnicodeOrderTests {
    /// How two texts compare.
    private func order(_ a: String, _ b: String, _ options: UnicodeOrder = UnicodeOrder()) -> Int {
        Collation(texts: .unicode(options)).compare(a, b).signum()
    }

    @Test("Case comes before accents when they are ignored, and neither counts when both are") func options()
    {
        #expect(order("a", "A") < 0 && order("A", "á") < 0 && order("á", "b") < 0)
        let caseless = UnicodeOrder(ignoringCase: true)
        #expect(order("Resume", "rESUME", caseless) == 0 && order("resume", "Résumé", caseless) < 0)
        let plain = UnicodeOrder(ignoringCase: true, accents: true)
        #expect(order("Résumé", "resume", plain) == 0 && order("a", "b", plain) < 0)
        let accentless = UnicodeOrder(accents: true)
        #expect(order("Résumé", "Resume", accentless) == 0 && order("résumé", "Resume", accentless) < 0)
    }

    @Test("ASCII has the order of ICU's root collation") func ascii() {
        let order =
            " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
        let texts = order.map(String.init)
        #expect(texts.count == 95)
        #expect(zip(texts, texts.dropFirst()).allSatisfy { self.order($0, $1) < 0 })
    }

    @Test("The short way for ASCII and the way for all texts make the same keys") func ways() {
        var random = Random(state: 3)
        for _ in 0..<2_000 {
            let length = Int.random(in: 0..<12, using: &random)
            let text = (0..<length).map { _ in UInt8.random(in: 0..<128, using: &random) }
            for options in [
                UnicodeOrder(), UnicodeOrder(ignoringCase: true), UnicodeOrder(accents: true),
                UnicodeOrder(ignoringCase: true, accents: true),
            ] {
                // A mark that is ignored on all levels makes the text leave ASCII.
                let (a, b) = (sortKey(text, options), sortKey(text + Array("\u{FEFF}".utf8), options))
                #expect(a == b, "\(text)")
            }
        }
    }

    @Test("Small kana come before others, also where they are the last difference") func kana() {
        #expect(order("ぁ", "あ") < 0 && order("あぁ", "ああ") < 0 && order("ぁあ", "ああ") < 0)
        #expect(order("あ", "ア") < 0)
    }

    @Test("U+FFFF is after every text, as keys of CouchDB's views use it") func highest() {
        for text in ["z", "龍", "\u{10FFFD}", "\u{E000}", "\u{0378}"] { #expect(order(text, "\u{FFFF}") < 0) }
        #expect(order("龍", "\u{FFF0}") < 0)
    }

    @Test("Many marks on one letter take no more than their share of time") func marks() {
        let text = "a" + String(repeating: "\u{0F71}\u{0301}\u{0F72}\u{0F80}", count: 20_000)
        #expect(!sortKey(Array(text.utf8), UnicodeOrder()).isEmpty)
    }

    private func sortKey(_ text: [UInt8], _ options: UnicodeOrder) -> [UInt8] {
        var maker = SortKeyMaker(options)
        let key = ByteBuffer()
        text.withView { maker.append($0, to: key) }
        return key.view.array
    }
}
