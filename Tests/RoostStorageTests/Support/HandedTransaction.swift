import RoostStorage

/// A transaction that another thread goes on with.
struct HandedTransaction: @unchecked Sendable {  // the thread that made it does not use it any more
    let transaction: StoreTransaction

    init(_ transaction: StoreTransaction) { self.transaction = transaction }
}
