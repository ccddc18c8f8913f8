import Fleece

/// Fleece and JSON.
extension FuzzTarget {
    static let values = [fleece, json]

    private static let texts = [
        #"{"name":"Apus apus","grams":42.5,"tags":["a","bird",300000,null,true],"é":{"x":-1.5,"":[]}}"#,
        #"[[[[1,"two",3.25]],{}],{"a b":{"c":[{"d":18446744073709551615}]}},"漢字😀\u0001"]"#,
        #"{"_id":"x","a":-9223372036854775808,"b":1e300,"c":0.1,"d":[[],{}],"long":"0123456789abcdefghij"}"#,
        #"12345678"#, "null", "\"\\ud83d\\ude00\"",
    ]

    private static let fleece = FuzzTarget("fleece", largestInput: 1024) {
        try texts.map { try FleeceDocument(json: $0).bytes }
    } run: { input in
        let keys = try SharedKeys(["name", "grams", "x", ""])
        for keys in [nil, keys] {
            touch(FleeceDocument(trusting: input, sharedKeys: keys))
            guard let document = try? FleeceDocument(validating: input, sharedKeys: keys) else { continue }
            touch(document)
            try rewrite(document)
        }
        if let keys = try? SharedKeys(encoded: input) { _ = try keys.encoded() }
    }

    /// A valid body can be written again, and what comes of it is valid.
    private static func rewrite(_ document: FleeceDocument) throws {
        // The same part may stand in many places, so that what is short as a body may be long when it is written out.
        guard document.root.json(.canonical).utf8.count < 1 << 16 else { return }
        var writer = FleeceWriter()
        writer.write(document.root)
        guard let bytes = try? writer.finish() else { return }
        touch(try FleeceDocument(validating: bytes))
    }

    private static func touch(_ document: FleeceDocument) {
        _ = (
            document.root.json(.canonical), document.root.json(.pretty), document.dump(), document.description
        )
        _ = document.root == document.root
        _ = document.root.hashValue
        _ = (document["name"].string, document[0].double, document[path: "tags[-1]"].int, document.root.data)
    }

    private static let json = FuzzTarget("json", largestInput: 1024) {
        texts.map { Array($0.utf8) }
    } run: { input in
        _ = try? FleecePath(parsing: String(decoding: input, as: UTF8.self))
        guard let document = try? FleeceDocument(json: input) else { return }
        let text = document.root.jsonBytes(.canonical)
        let again = try FleeceDocument(json: text)
        try demand(again.root.jsonBytes(.canonical) == text, "JSON that parsing changes")
        try demand(again.root == document.root, "a value that its JSON changes")
        try demand(
            (try? FleeceDocument(validating: document.bytes)) != nil, "JSON that makes an invalid body")
    }
}
