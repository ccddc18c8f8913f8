extension BitslicedBlocks {
    /// MixColumns on a state whose ShiftRows was undone `shift` (0…3) times.
    ///
    /// Per byte `2·(a₀+a₁) + a₁ + (a₂+a₃)`, where a₁ is the byte of the next row: with the rows shifted, it stands
    /// `shift` columns further on.
    @inline(__always)
    mutating func mixColumns(shift: Int) {
        let (r0, r1, r2, r3) = (next(q0, shift), next(q1, shift), next(q2, shift), next(q3, shift))
        let (r4, r5, r6, r7) = (next(q4, shift), next(q5, shift), next(q6, shift), next(q7, shift))
        let (c0, c1, c2, c3) = (q0 ^ r0, q1 ^ r1, q2 ^ r2, q3 ^ r3)
        let (c4, c5, c6, c7) = (q4 ^ r4, q5 ^ r5, q6 ^ r6, q7 ^ r7)
        q0 = r0 ^ c7 ^ opposite(c0, shift)
        q1 = r1 ^ c0 ^ c7 ^ opposite(c1, shift)
        q2 = r2 ^ c1 ^ opposite(c2, shift)
        q3 = r3 ^ c2 ^ c7 ^ opposite(c3, shift)
        q4 = r4 ^ c3 ^ c7 ^ opposite(c4, shift)
        q5 = r5 ^ c4 ^ opposite(c5, shift)
        q6 = r6 ^ c5 ^ opposite(c6, shift)
        q7 = r7 ^ c6 ^ opposite(c7, shift)
    }

    /// The inverse of ``mixColumns(shift:)``: MixColumns after adding `4·(a₀+a₂)` to every byte.
    @inline(__always)
    mutating func inverseMixColumns(shift: Int) {
        let (c0, c1) = (q0 ^ opposite(q0, shift), q1 ^ opposite(q1, shift))
        let (c2, c3) = (q2 ^ opposite(q2, shift), q3 ^ opposite(q3, shift))
        let (c4, c5) = (q4 ^ opposite(q4, shift), q5 ^ opposite(q5, shift))
        let (c6, c7) = (q6 ^ opposite(q6, shift), q7 ^ opposite(q7, shift))
        q0 = q0 ^ c6
        q1 = q1 ^ c6 ^ c7
        q2 = q2 ^ c0 ^ c7
        q3 = q3 ^ c1 ^ c6
        q4 = q4 ^ c2 ^ c6 ^ c7
        q5 = q5 ^ c3 ^ c7
        q6 = q6 ^ c4
        q7 = q7 ^ c5
        mixColumns(shift: shift)
    }

    /// ShiftRows twice, which is its own inverse: the odd rows move by two columns.
    @inline(__always)
    mutating func shiftRowsTwice() {
        q0 = swapColumnsOfOddRows(q0)
        q1 = swapColumnsOfOddRows(q1)
        q2 = swapColumnsOfOddRows(q2)
        q3 = swapColumnsOfOddRows(q3)
        q4 = swapColumnsOfOddRows(q4)
        q5 = swapColumnsOfOddRows(q5)
        q6 = swapColumnsOfOddRows(q6)
        q7 = swapColumnsOfOddRows(q7)
    }

    @inline(__always)
    private func swapColumnsOfOddRows(_ plane: Plane) -> Plane {
        plane ^ ((plane ^ plane.nextColumn(2)) & Plane(repeating: 0xFFFF_FFFF_0000_0000))
    }

    /// Brings every byte's successor in its (shifted) column to the byte's own place.
    @inline(__always)
    private func next(_ plane: Plane, _ shift: Int) -> Plane {
        plane.nextRow.nextColumn(shift)
    }

    /// Brings the byte two rows further on in the (shifted) column to the byte's own place.
    @inline(__always)
    private func opposite(_ plane: Plane, _ shift: Int) -> Plane {
        plane.oppositeRow.nextColumn((2 * shift) & 3)
    }
}
