import RoostStorage

/// The code of the error that `body` throws; `nil` when it throws none, or one of another kind.
func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}
