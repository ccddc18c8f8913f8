extension RevisionID {
    /// Appends the compact form: the generation as a ``Varint``, then the digest's bytes.
    ///
    /// `3-abcd` is the three bytes 03 AB CD; a revision of Roost's own with a generation below 128 takes
    /// 17. The form does not say where it ends, and comparing such bytes does not give the order of the
    /// IDs.
    package func append(to bytes: inout [UInt8]) {
        Varint.append(generation, to: &bytes)
        digest.append(to: &bytes)
    }

    /// Reads the compact form, which must be all of `bytes`.
    ///
    /// - Throws: `invalidRevisionID` for a generation of 0, above 2^63 − 1 or not in its shortest encoding,
    ///   and for a digest of 0 or more than 32 bytes.
    package init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        var offset = 0
        guard let generation = Varint.read(bytes, at: &offset), generation >= 1,
            generation <= Self.maximumGeneration, RevisionDigest.lengths.contains(bytes.count - offset)
        else {
            throw DatabaseError(
                .invalidRevisionID,
                "\(bytes.count) bytes were read as a revision ID, but are not a generation from 1 to 2^63 - "
                    + "1 with a digest of 1 to 32 bytes. Check the integrity of what they were read from.")
        }
        self.init(
            generation: generation, digest: RevisionDigest(bytes, at: offset, count: bytes.count - offset))
    }
}
