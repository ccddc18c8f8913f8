import Roost

enum CountCommand: Command {
    static let name = "count"
    static let summary = "prints how many documents there are"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option.collection]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        Console.print("\(try invocation.collection(of: database).count)")
    }
}
