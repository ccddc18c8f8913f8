import RoostStorage

/// A transaction that another thread goes on with.
struct HandedTransaction: @unchecked Sendable {  // the thread that made it does not use it any more
    let transaction: WriteTransaction

    init(_ transaction: WriteTransaction) { self.transaction = transaction }
}
