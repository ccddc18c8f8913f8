import Foundation
import Roost
import RoostQuery
import Testing

/// Pages of typed results, which go on after the keys of the last one.
@Suite struct ResultPageTests {
    struct Thing: Codable, Sendable, Identifiable {
        var id: String
        var size: DocumentValue?
        var name: String?
    }

    let fixture: QueryFixture
    let things: TypedCollection<Thing>

    init() throws {
        fixture = try QueryFixture()
        things = try fixture.database.collection("things", of: Thing.self)
        // Ties of all kinds, nulls, and documents without a size.
        let sizes: [DocumentValue?] = [
            nil, .null, nil, 3, .null, 1, 3, 2.5, "m", "M", 3, false, true, "m", 1, nil, [1, 2], [1], "ä",
            9_007_199_254_740_993, [:],
        ]
        for (number, size) in sizes.enumerated() {
            try things.save(
                Thing(
                    id: "t\(number % 7)-\(number)", size: size,
                    name: number % 3 == 0 ? nil : ["x", "y", "X"][number % 3]))
        }
    }

    private func pages(of query: TypedQuery<Thing>, _ length: Int) throws -> [String] {
        var ids: [String] = []
        var position: ResultPosition?
        repeat {
            let page = try query.limit(length).page(after: position)
            #expect(page.values.count == length || page.next == nil && !page.values.isEmpty)
            ids += page.values.map(\.id)
            // As a client would send it back.
            position = try page.next.map {
                try JSONDecoder().decode(ResultPosition.self, from: JSONEncoder().encode($0))
            }
        } while position != nil && ids.count < 100
        return ids
    }

    private typealias DatabaseQuery = TypedQuery<Thing>

    private static let orders: [@Sendable (DatabaseQuery) -> DatabaseQuery] = [
        { $0 },
        { $0.order(by: \.size) },
        { $0.order(by: \.size, .descending) },
        { $0.order(by: \.id, .descending) },
        { $0.order(by: \.name).order(by: \.size, .descending) },
        { $0.order(by: \.name, .descending).order(by: \.size) },
        { $0.order(by: \.size).order(by: \.name, .descending).order(by: \.id, .descending) },
        { $0.order { $0.named("name", as: String.self).caseInsensitive } },
    ]

    /// A page ends among equal keys, nulls and missing keys; what the pages have together is what one answer has.
    @Test(arguments: 0..<orders.count, [false, true])
    func pagesHaveEachValueOnceInOrder(_ number: Int, isIndexed: Bool) throws {
        if isIndexed {
            try things.documents.createIndex("by-size", on: "size")
            try things.documents.createIndex("by-name", on: "name, size")
        }
        let query = Self.orders[number](things.query())
        // Ties come in the order of their IDs, in the direction of the last key.
        let isDescending = [2, 3, 4, 6].contains(number)
        let whole = try
            (number == 3 || number == 6
            ? query : query.order(by: \.id, isDescending ? .descending : .ascending))
            .fetch().map(\.id)
        #expect(whole.count == 21)
        for length in [1, 2, 3, 5, 20, 21, 22] {
            #expect(try pages(of: query, length) == whole, "pages of \(length)")
        }
    }

    @Test func conditionsHoldOnAllPages() throws {
        let query = things.query().where { $0.name == "y" }.order(by: \.size, .descending)
        #expect(try pages(of: query, 2).count == 7)
        #expect(try Set(pages(of: query, 2)) == Set(query.fetch().map(\.id)))
    }

    /// With an offset, a document that is deleted from the first page would hide one of the second.
    @Test func aPageGoesOnWhereTheLastEndedWhateverWasDeletedOrAdded() throws {
        let query = things.query().order(by: \.size).limit(6)
        let all = try things.query().order(by: \.size).order(by: \.id).fetch().map(\.id)
        let first = try query.page()
        for value in first.values { try things.delete(value) }
        try things.save(Thing(id: "early", size: nil, name: nil))
        try things.save(Thing(id: "zz", size: false, name: nil))
        let second = try query.page(after: first.next)
        #expect(second.values.map(\.id) == ["zz"] + Array(all[6..<11]))
    }

    @Test func tasksReadPagesToo() async throws {
        let query = things.query().order(by: \.size).limit(10)
        let first = try await query.page()
        let second = try await query.page(after: first.next)
        let third = try await query.page(after: second.next)
        #expect(first.values.count == 10 && second.values.count == 10 && third.values.count == 1)
        #expect(third.next == nil)
    }

    @Test func whatCannotBePagedIsSaid() throws {
        let bySize = things.query().order(by: \.size).limit(2)
        let next = try bySize.page().next
        #expect(QueryFixture.message { _ = try things.query().page() }.contains("limit(_:)"))
        #expect(QueryFixture.message { _ = try bySize.offset(1).page() }.contains("skips nothing"))
        #expect(QueryFixture.message { _ = try bySize.limit(0).page() }.contains("1 or more"))
        for other in [
            things.query().order(by: \.name), things.query().order(by: \.size, .descending), things.query(),
        ] {
            #expect(
                QueryFixture.message { _ = try other.limit(2).page(after: next) }.contains(
                    "Begin with the first page"))
        }
    }
}
