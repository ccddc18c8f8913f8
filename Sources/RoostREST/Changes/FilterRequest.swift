import Fleece
import RoostCrypto
import RoostWire

/// What filters of design documents are told of the request for changes, as CouchDB tells it.
enum FilterRequest {
    /// Fields that show who asks to whoever has them.
    private static let secrets = ["Authorization", "Proxy-Authorization", "Cookie", "X-Auth-CouchDB-Token"]
    /// Parameters whose values CouchDB gives as JSON.
    private static let values = ["startkey", "endkey", "key", "descending"]

    /// - Parameter body: The body of a POST; `nil` for any other request.
    static func json(_ target: DatabaseContext, body: [UInt8]?) throws -> JSON {
        let (context, path) = (target.context, JSON.strings(target.context.path))
        return [
            "info": try DatabaseRoutes.information(target),
            "uuid": .string(RandomText.hexadecimal(bytes: 16)),
            "id": nil, "method": .string(context.method), "requested_path": path, "path": path,
            "raw_path": .string(context.request.target), "query": query(target.query.parameters),
            "headers": headers(context.headers),
            "body": .string(body.map { String(decoding: $0, as: UTF8.self) } ?? "undefined"),
            "peer": .string(context.request.peer), "form": [:], "cookie": [:],
            "userCtx": target.user.json(in: target.served.name.text),
            "secObj": .text(try target.served.securityText()),
        ]
    }

    private static func query(_ parameters: QueryParameters) -> JSON {
        .object(
            parameters.values.map { name, text in
                guard values.contains(name), let value = try? FleeceDocument(json: text) else {
                    return (name, .string(text))
                }
                return (name, .text(value.root.jsonBytes()))
            })
    }

    /// All fields but the secret ones, under names in capitals as CouchDB writes them.
    private static func headers(_ headers: HTTPHeaders) -> JSON {
        var headers = headers
        for name in secrets { headers[name] = nil }
        var values: [(String, String)] = []
        for field in headers.fields {
            let name = field.name.split(separator: "-", omittingEmptySubsequences: false)
                .map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }.joined(separator: "-")
            if let index = values.firstIndex(where: { $0.0 == name }) {
                values[index].1 += ", \(field.value)"
            } else {
                values.append((name, field.value))
            }
        }
        return .object(values.map { ($0.0, .string($0.1)) })
    }
}
