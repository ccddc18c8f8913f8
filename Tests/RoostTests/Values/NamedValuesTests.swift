import Roost
import Testing

@Suite struct NamedValuesTests {
    /// Names of one to four bytes, so that some begin as others do.
    private let names = ["a", "b", "Z", "é"].flatMap { first in
        [first] + ["", "a", "z"].flatMap { second in ["1", "2", "3"].map { first + second + $0 } }
    }

    /// What `model` has, in the order that is promised.
    private func sorted(_ model: [String: Int]) -> [(key: String, value: Int)] {
        model.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { (key: $0.key, value: $0.value) }
    }

    @Test(arguments: UInt64(0)..<8) func theyAreWhatADictionaryHas(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var values = NamedValues<Int>()
        var model: [String: Int] = [:]
        for step in 0..<2_000 {
            let name = names.randomElement(using: &random)!
            // Few values half of the time, so that their number passes every size again and again.
            let removes = UInt64.random(in: 0..<4, using: &random) < (step / 250 % 2 == 0 ? 1 : 3)
            switch (removes, step % 3) {
            case (true, 0): #expect(values.removeValue(forKey: name) == model.removeValue(forKey: name))
            case (true, _): (values[name], model[name]) = (nil, nil)
            case (false, 0): (values[name], model[name]) = (step, step)
            case (false, _):
                values[name, or: 0] += step
                model[name, default: 0] += step
            }
            let expected = sorted(model)
            #expect(values.count == model.count && values.isEmpty == model.isEmpty)
            #expect(values[name] == model[name])
            #expect(values.elementsEqual(expected) { $0.key == $1.key && $0.value == $1.value })
        }
    }

    @Test func howTheyCameAboutMakesNoDifference() {
        for count in [1, 2, 15, 16, 17, 18, 40] {
            let names = self.names.prefix(count)
            var forwards = NamedValues<Int>()
            for (index, name) in names.enumerated() { forwards[name] = index }
            var fewer = NamedValues<Int>()
            for name in self.names.reversed() { fewer[name] = -1 }
            for name in self.names.dropFirst(count) { fewer[name] = nil }
            #expect(forwards != fewer)
            for (index, name) in names.enumerated() { fewer[name] = index }
            #expect(forwards == fewer && forwards.hashValue == fewer.hashValue)
            #expect(forwards == NamedValues(Dictionary(uniqueKeysWithValues: forwards.map { ($0, $1) })))
            #expect(forwards.mapValues { $0 + 1 }.values == forwards.values.map { $0 + 1 })
            fewer[names.last!] = nil
            #expect(forwards != fewer && fewer.count == count - 1)
        }
    }

    @Test func aDraftMayHaveManyPropertiesAndThenFew() throws {
        let files = try TemporaryDatabase()
        let notes = try files.open().collection("notes")
        var draft = MutableDocument(id: "n")
        for number in (0..<100).reversed() { draft["p\(number)"] = .integer(Int64(number)) }
        draft["p7"]["in"].int = 8
        let saved = try notes.save(&draft)
        #expect(saved.properties.count == 100 && saved["p99"].int == 99 && saved["p7"]["in"].int == 8)
        for number in 3..<100 { draft["p\(number)"] = nil }
        try notes.save(&draft)
        #expect(try notes.document("n")?.json() == #"{"p0":0,"p1":1,"p2":2}"#)
    }
}

extension NamedValues {
    /// The value with that name, to be changed in place; `value` where there is none.
    fileprivate subscript(name: String, or value: Value) -> Value {
        get { self[name] ?? value }
        set { self[name] = newValue }
    }
}
