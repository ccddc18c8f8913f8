import RoostFile
import RoostStorage

extension AuxiliaryStores {
    /// A store that is there, opened for reading only and beside those in use: to be looked at, so nothing of it is thrown
    /// away, whatever is wrong with it. Close it.
    ///
    /// - Throws: what keeps it from being read, such as `damaged` or `wrongKey`.
    package func storeToLook(_ name: String) throws(StoreError) -> Store {
        try Store.open(
            path(name), options: Self.options(transform: transform, isReadOnly: true),
            environment: environment)
    }

    /// Verifies every byte of a store that is there, while others use it.
    ///
    /// - Throws: what keeps the check from being made, such as `wrongKey` or `cancelled`; damage is in the report.
    package func check(
        _ name: String, _ checking: CheckOptions, progress: ProgressHandler?
    ) throws(StoreError) -> CheckReport {
        try Store.check(
            path(name), options: Self.options(transform: transform, isReadOnly: true),
            environment: environment,
            checking: checking, progress: progress)
    }

    /// How many bytes the file of a store has; 0 where there is none.
    package func fileBytes(_ name: String) throws(DatabaseError) -> UInt64 {
        try translating { () throws(FileError) in try environment.medium.status(of: path(name))?.size ?? 0 }
    }
}
