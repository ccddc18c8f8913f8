/// What CouchDB did on a machine of this class when it was measured for this project. It can't be installed everywhere, so that these
/// are constants; nothing is run.
enum CouchDBFigures {
    static let entry: ContenderEntry = {
        var entry = ContenderEntry(
            name: "couchdb", title: "CouchDB 3.5.0, kept figures", kind: .peer,
            configuration:
                "not run: measured once over loopback on another machine of this class (two cores), with documents of 1 KB, "
                + "its defaults and one client; the view's map is in JavaScript, the replication goes to a database of the same server",
            rows: [.bulkInserts, .puts, .gets, .scriptedView, .replication],
            open: { _ in throw BenchmarkError("CouchDB is not run") })
        entry.known = [
            .bulkInserts: 20_400, .puts: 536, .gets: 1_935, .scriptedView: 12_500, .push: 4_500,
        ]
        return entry
    }()
}
