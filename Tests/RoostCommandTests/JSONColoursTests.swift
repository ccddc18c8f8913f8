import Testing

@testable import RoostCommand

@Suite struct JSONColoursTests {
    @Test func everyKindOfTokenHasItsColour() {
        let painted = JSONColours.paint(#"{"k\"":["s\\",-1.5e+3,true,null],"":{}}"#)
        let readable = painted.replacing("\u{1B}[0m", with: ">").replacing(/\x1B\[(3\d)m/) { "<\($0.1) " }
        #expect(readable == #"{<34 "k\"">:[<32 "s\\">,<36 -1.5e+3>,<33 true>,<33 null>],<34 "">:{}}"#)
    }

    @Test(arguments: ["", "\"", "\"\\", "{\"é鍵\": 1}", "tru"])
    func theTextItselfStays(_ text: String) {
        #expect(JSONColours.paint(text).replacing(/\x1B\[\d+m/, with: "") == text)
    }
}
