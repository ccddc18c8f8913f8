/// What `work` makes of each of `elements`, in their order, with at most `limit` of them under way.
///
/// - Throws: The first error of `work`; what is under way then is cancelled.
func concurrently<Element: Sendable, Made: Sendable>(
    _ elements: [Element], limit: Int, _ work: @escaping @Sendable (Element) async throws -> Made
) async throws -> [Made] {
    try await withThrowingTaskGroup(of: (Int, Made).self) { group in
        var made: [Made?] = Array(repeating: nil, count: elements.count)
        for (index, element) in elements.enumerated() {
            if index >= limit, let (place, result) = try await group.next() { made[place] = result }
            group.addTask { (index, try await work(element)) }
        }
        for try await (place, result) in group { made[place] = result }
        return made.compactMap(\.self)
    }
}
