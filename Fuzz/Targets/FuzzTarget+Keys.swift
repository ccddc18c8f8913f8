import Fleece
import RoostBytes

@testable import RoostOrder

/// Keys that sort by their bytes.
extension FuzzTarget {
    static let keys = [keyBytes, keyOrder]

    private static let collations: [Collation] = [
        .couchDB, .raw, .binary, Collation(texts: .caselessASCII),
        Collation(texts: .unicode(UnicodeOrder(ignoringCase: true, accents: true))),
    ]

    private static let texts = [
        #"[null,false,true,-1.5,0,18446744073709551615,"é","",{"a":[]}]"#,
        #""straße \u0000\u0001 漢字 か\u3099""#,
        #"{"a":{"b":1e300},"ä":[[],{}]}"#, "-9223372036854775808", "5e-324",
    ]

    private static func key(_ value: FleeceValue, _ collation: Collation) throws -> [UInt8] {
        let encoder = KeyEncoder(collation)
        try encoder.append(value)
        return encoder.key
    }

    /// Any bytes are read as a key or refused.
    private static let keyBytes = FuzzTarget("key-bytes", largestInput: 512) {
        try texts.map { try key(try FleeceDocument(json: $0).root, .binary) }
    } run: { input in
        for collation in collations {
            for isDescending in [false, true] {
                input.withView { view in
                    var reader = KeyReader(view, collation, isDescending: isDescending)
                    while !reader.isAtEnd, (try? reader.skip()) != nil {}
                }
            }
            let value = input.withView { (view) -> [UInt8]? in
                var reader = KeyReader(view, collation)
                var writer = FleeceWriter()
                guard (try? reader.readValue(into: &writer)) == true else { return nil }
                return try? writer.finish()
            }
            if let value { _ = try key(FleeceDocument(validating: value).root, collation) }
        }
    }

    /// The keys of two JSON values, parted by 00, compare as the values do.
    private static let keyOrder = FuzzTarget("key-order", largestInput: 512) {
        zip(texts, texts.dropFirst()).map { Array($0.utf8) + [0] + Array($1.utf8) }
    } run: { input in
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let a = try? FleeceDocument(json: Array(parts[0])).root,
            let b = try? FleeceDocument(json: Array(parts[1])).root
        else { return }
        for collation in collations {
            let (keyA, keyB) = (try key(a, collation), try key(b, collation))
            let order = keyA.withView { a in keyB.withView { b in a.compare(b).signum() } }
            try demand(order == collation.compare(a, b).signum(), "keys that don't order as their values")
            let prefix = min(keyA.count, keyB.count)
            try demand(
                keyA == keyB || keyA.prefix(prefix) != keyB.prefix(prefix), "a key that begins another one")
        }
    }
}
