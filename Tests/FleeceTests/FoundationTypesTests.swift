import Fleece
import Foundation
import Testing

/// Dates and decimals, which must come back as they went in.
@Suite struct FoundationTypesTests {
    private func stored(_ value: some Encodable) throws -> FleeceValue {
        try FleeceDocument(validating: FleeceEncoder().encode(value)).root
    }

    private func roundTrip<T: Codable>(_ value: T) throws -> T {
        try FleeceDecoder().decode(T.self, from: stored(value))
    }

    // MARK: Dates

    @Test func datesComeBackEqual() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1500 {
            // Within the years 0…9999, now and then close to an origin.
            let range = [1, 1e3, 1e9, 6e10].randomElement(using: &random)!
            let seconds = Double.random(in: -range..<range, using: &random)
            for date in [Date(timeIntervalSinceReferenceDate: seconds), Date(timeIntervalSince1970: seconds)]
            {
                #expect(try roundTrip(date) == date)
            }
        }
        for date in [Date(), .distantPast, .distantFuture] { #expect(try roundTrip(date) == date) }
    }

    @Test func smallestFractionsComeBackEqual() throws {
        for seconds in [
            Double.leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1e-7, -1e-7, 0.1 + 0.2, -0.000_012_5,
            1.nextUp, (-1.0).nextDown,
        ] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(try roundTrip(date) == date)
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_772_368_496.789, "2026-03-01T12:34:56.789Z"),
        (-0.001, "1969-12-31T23:59:59.999Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        (-62_167_219_200, "0000-01-01T00:00:00.000Z"),
    ])
    func millisecondsAreEnoughForMost(seconds: Double, text: String) throws {
        #expect(try stored(Date(timeIntervalSince1970: seconds)).string == text)
    }

    @Test(arguments: [
        (0.25, "2001-01-01T00:00:00.250Z"), (-0.25, "2000-12-31T23:59:59.750Z"),
        (0.0001, "2001-01-01T00:00:00.0001Z"), (-0.0001, "2000-12-31T23:59:59.9999Z"),
        (1.5e-7, "2001-01-01T00:00:00.00000015Z"), (799_692_800.123_456_7, "2026-05-05T16:53:20.1234567Z"),
    ])
    func finerDatesGetMoreDigits(seconds: Double, text: String) throws {
        #expect(try stored(Date(timeIntervalSinceReferenceDate: seconds)).string == text)
    }

    @Test func millisecondsAreReadAsUnixTimesAre() throws {
        for number in 0..<500 {
            let milliseconds = 1_700_000_000_000 + number * 977
            let fraction = String("\(1000 + milliseconds % 1000)".dropFirst())
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            #expect(try stored(date).string?.hasSuffix(".\(fraction)Z") == true)
            #expect(try stored(date).date == date)
        }
    }

    @Test func datesSortAsText() throws {
        let dates = (0..<500).map { Date(timeIntervalSinceReferenceDate: 8e8 + Double($0) * 0.001_37) }
        let texts = try dates.map { try #require(try stored($0).string) }
        #expect(texts == texts.sorted())
    }

    @Test func longFractionsAreRead() throws {
        let digits = String(repeating: "3", count: 100_000)
        let value = try stored("2001-01-01T00:00:00.\(digits)Z")
        #expect(value.date == Date(timeIntervalSinceReferenceDate: 1.0 / 3))
        #expect(try stored("2000-12-31T23:59:59.00000000Z").date == Date(timeIntervalSinceReferenceDate: -1))
    }

    @Test func otherYearsAreRefused() throws {
        for seconds in [253_402_300_800, -62_167_219_200.001, 1e300, .infinity, .nan] {
            #expect(throws: EncodingError.self) { try stored(Date(timeIntervalSince1970: seconds)) }
        }
        // The last moment that there is a text for.
        let last = Date(timeIntervalSinceReferenceDate: (253_402_300_800 - 978_307_200.0).nextDown)
        #expect(try roundTrip(last) == last)
    }

    // MARK: Decimals

    private func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(string: text))
    }

    @Test(arguments: [
        ("0", "0"), ("19.99", "19.99"), ("-0.1", "-0.1"), ("100", "100"), ("3.0", "3"),
        ("9223372036854775807", "9223372036854775807"), ("18446744073709551615", "18446744073709551615"),
        ("0.000001", "1e-06"), ("123456789012345.6", "123456789012345.6"),
        // More digits than a number has.
        ("0.12345678901234567890", #"{"@type":"decimal","value":"0.1234567890123456789"}"#),
        ("18446744073709551616", #"{"@type":"decimal","value":"18446744073709551616"}"#),
        ("18446744073709551617", #"{"@type":"decimal","value":"18446744073709551617"}"#),
        ("99999999999999999999.99", #"{"@type":"decimal","value":"99999999999999999999.99"}"#),
    ])
    func decimalsAreNumbersWhereNumbersCarryThem(text: String, json: String) throws {
        let decimal = try decimal(text)
        let value = try stored(["price": decimal])["price"]
        #expect(try roundTrip(["price": decimal]) == ["price": decimal])
        #expect(value.decimal == decimal)
        #expect(try FleeceDocument(json: value.json()).root == FleeceDocument(json: json).root)
    }

    @Test func decimalsOfUpTo15DigitsAreNumbers() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let digits = Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &random)
            let decimal = Decimal(
                sign: .plus, exponent: .random(in: -20...20, using: &random), significand: Decimal(digits))
            let value = try stored(decimal)
            #expect(value.kind == .double || value.kind == .integer)
            #expect(try roundTrip(decimal) == decimal)
        }
    }

    @Test func decimalsAreReadFromNumbersAndText() throws {
        for (json, text) in [
            ("19.99", "19.99"), ("5", "5"), ("1.0", "1"), (#""19.99""#, "19.99"), (#""-1.5e-3""#, "-0.0015"),
            ("1e-7", "0.0000001"),
            (#"{"@type":"decimal","value":"0.12345678901234567890"}"#, "0.1234567890123456789"),
        ] {
            let value = try FleeceDocument(json: json).root
            #expect(try FleeceDecoder().decode(Decimal.self, from: value) == decimal(text))
        }
        for json in [
            #""""#, #""1.""#, #"".5""#, #""1,5""#, #""0x1""#, #""12 ""#, #""nan""#, #""1e999""#, "1e300",
            "true", #"{"@type":"decimal","value":3}"#, #"{"@type":"decimal","value":"x"}"#, #"{"value":"3"}"#,
            #""1234567890123456789012345678901234567890.5""#,
        ] {
            let value = try FleeceDocument(json: json).root
            #expect(throws: DecodingError.self) { try FleeceDecoder().decode(Decimal.self, from: value) }
            #expect(value.decimal == nil)
        }
        #expect(throws: EncodingError.self) { try stored(Decimal.nan) }
    }
}
