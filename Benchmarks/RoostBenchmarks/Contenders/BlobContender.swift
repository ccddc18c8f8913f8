/// A store of one blob in the race.
protocol BlobContender: AnyObject {
    /// Stores the content of the file at `source`, read piece by piece, durably on return.
    func store(_ source: String) throws
    /// Delivers the whole content piece by piece and, by its end, has found every change that was made to it.
    func readChecked(_ body: (UnsafeRawBufferPointer) -> Void) throws
    /// Fills `buffer` with the content from `offset` on.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws
    /// Closes.
    func close() throws
}
