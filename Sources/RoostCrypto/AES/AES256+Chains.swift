extension AES256 {
    /// Encrypts chains that don't depend on each other, as if each were a ``CBCEncryption`` of its own: without the
    /// processor's instructions several times as fast, because eight are encrypted side by side.
    ///
    /// - Parameters:
    ///   - input: The chains, each of `chainByteCount` bytes, one after another.
    ///   - output: Where they go; the same memory as `input`, or memory that does not overlap it.
    ///   - chainByteCount: A multiple of 16 that divides the length of `input`.
    ///   - initializationVector: That of the chain with the number it is given, from 0 on.
    package func encryptChains(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, chainByteCount: Int,
        initializationVector: (Int) -> Block128
    ) {
        precondition(chainByteCount > 0 && chainByteCount % 16 == 0, "CBC encrypts whole blocks of 16 bytes.")
        precondition(input.count % chainByteCount == 0, "The input must consist of whole chains.")
        precondition(output.count == input.count, "The output must be as long as the input.")
        guard let source = input.baseAddress, let target = output.baseAddress else { return }
        let chainCount = input.count / chainByteCount
        var number = 0
        while !usesHardware, number + 8 <= chainCount {
            let vectors = (
                initializationVector(number), initializationVector(number + 1),
                initializationVector(number + 2), initializationVector(number + 3),
                initializationVector(number + 4), initializationVector(number + 5),
                initializationVector(number + 6), initializationVector(number + 7)
            )
            unsafe PortableAES.encryptEightChains(
                source + number * chainByteCount, target + number * chainByteCount, stride: chainByteCount,
                blockCount: chainByteCount / 16, vectors, schedule)
            number += 8
        }
        for number in number..<chainCount {
            let range = number * chainByteCount..<(number + 1) * chainByteCount
            var chain = CBCEncryption(self, initializationVector: initializationVector(number))
            unsafe chain.encrypt(
                UnsafeRawBufferPointer(rebasing: input[range]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[range]))
        }
    }
}
