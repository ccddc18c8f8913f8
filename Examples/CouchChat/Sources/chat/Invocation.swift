import Foundation

/// What the command line says.
struct Invocation {
    let server: URL
    let name: String
    private(set) var directory: String
    private(set) var signsUp = false

    struct Failure: LocalizedError {
        let description: String

        var errorDescription: String? { description }
    }

    private static let usage = Failure(
        description: """
            usage: chat URL NAME [--directory DIR] [--sign-up]

              URL              the server's, such as http://127.0.0.1:5985
              NAME             your account's name
              --directory DIR  where this device keeps its database (default ~/.couchchat-NAME)
              --sign-up        makes the account first

            Both secrets are asked for, or are the first two lines of what is piped in.
            """)

    init(_ arguments: [String]) throws {
        guard arguments.count >= 2, let server = URL(string: arguments[0]), server.scheme != nil else {
            throw Self.usage
        }
        self.server = server
        name = arguments[1]
        directory = NSHomeDirectory() + "/.couchchat-\(arguments[1])"
        var rest = arguments.dropFirst(2)
        while let option = rest.popFirst() {
            switch option {
            case "--sign-up": signsUp = true
            case "--directory":
                guard let path = rest.popFirst() else { throw Self.usage }
                directory = path
            default: throw Self.usage
            }
        }
    }
}
