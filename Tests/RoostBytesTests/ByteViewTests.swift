import RoostBytes
import Testing

@Suite struct ByteViewTests {
    /// Lengths around the words that are compared at once, and a difference at each place.
    @Test func theCommonPrefixEndsAtTheFirstDifference() {
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8($0) }
            for place in 0...length {
                var other = bytes + [7, 7]
                if place < length { other[place] ^= 0x80 }
                let common = bytes.withView { bytes in other.withView { bytes.commonPrefix($0) } }
                #expect(common == place)
                #expect(other.withView { other in bytes.withView { other.commonPrefix($0) } } == place)
            }
        }
    }

    @Test func anyHighBitIsNoASCII() {
        for length in 0...20 {
            var bytes = [UInt8](repeating: 0x7F, count: length)
            #expect(bytes.withView { $0.isASCII })
            for place in 0..<length {
                bytes[place] = 0x80
                #expect(!bytes.withView { $0.isASCII })
                bytes[place] = 0
            }
        }
    }

    @Test func aWriterPutsRunsOfAnyLength() {
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8($0 + 1) }
            let buffer = ByteBuffer()
            buffer.append(zeros: length + 16)
            let written = bytes.withView { bytes in
                var writer = unsafe ByteWriter(buffer.mutableBytes.baseAddress!)
                unsafe writer.put(0x1234 as UInt16)
                unsafe writer.put(bytes)
                unsafe writer.put(0x89ab_cdef as UInt32)
                unsafe writer.put(varint: 300)
                return unsafe writer.position - buffer.mutableBytes.baseAddress!
            }
            let expected = [0x34, 0x12] + bytes + [0xef, 0xcd, 0xab, 0x89, 0xac, 0x02]
            #expect(written == expected.count)
            #expect(buffer.view.array == expected + [UInt8](repeating: 0, count: length + 16 - written))
        }
    }
}
