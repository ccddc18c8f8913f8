extension RevisionID {
    /// Appends the compact form: twice the generation, and one more where the digest is text, as a ``Varint``; then the
    /// digest's bytes.
    ///
    /// `3-abcd` is the five bytes 07 61 62 63 64; a revision of Roost's own with a generation below 64 takes 17. The form
    /// does not say where it ends, and comparing such bytes does not give the order of the IDs.
    package func append(to bytes: inout [UInt8]) {
        Varint.append(generation << 1 | (digest.isText ? 1 : 0), to: &bytes)
        digest.append(to: &bytes)
    }

    /// Reads the compact form, which must be all of `bytes`.
    ///
    /// - Throws: `invalidRevisionID` for a generation of 0 or not in its shortest encoding, and for a digest that no
    ///   revision has.
    package init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        var offset = 0
        guard let number = Varint.read(bytes, at: &offset), number >= 2,
            let digest = RevisionDigest(
                stored: bytes.extracting(offset..<bytes.count), isText: number & 1 == 1)
        else {
            throw DatabaseError(
                .invalidRevisionID,
                "\(bytes.count) bytes were read as a revision ID, but are not a generation from 1 to 2^63 - "
                    + "1 with a digest. Check the integrity of what they were read from.")
        }
        self.init(generation: number >> 1, digest: digest)
    }
}

extension RevisionDigest {
    /// Reads a digest that was stored; `nil` for bytes that no digest is stored as.
    init?(stored bytes: Span<UInt8>, isText: Bool) {
        if isText {
            self.init(text: bytes)
            // Digits that stand for a number are stored as that.
            if !self.isText { return nil }
        } else {
            self.init(binary: bytes)
        }
    }
}
