/// H4: the first build of a view whose functions are in JavaScript, which the first question to it waits for.
enum ScriptedViewRow {
    private static let design =
        #"{"views":{"by-group":{"map":"function (doc) { emit([doc.group, doc.n], doc.n) }"}}}"#

    static func run(on stage: Stage) throws {
        let server = try stage.openServer()
        let count = stage.corpus.count
        try server.load(count, size: stage.corpus.valueSize)
        let path = ServedDocument.database + "/_design/bench"
        try ask(server, ServerRequest(method: "PUT", target: path, body: Array(design.utf8), status: 201))
        Warmth.settle()
        // Not by the meter, which would take the children that run the scripts for other programs.
        let start = Clock.now()
        try ask(server, ServerRequest(target: path + "/_view/by-group?limit=1"))
        stage.record(.scriptedView, Double(count) / Clock.seconds(since: start))
        try server.close()
    }

    private static func ask(_ server: any ServerContender, _ request: ServerRequest) throws {
        _ = try server.perform(clients: 1) { _, number in number == 0 ? request : nil }
    }
}
