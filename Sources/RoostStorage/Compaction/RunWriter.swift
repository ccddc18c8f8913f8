import RoostBytes
import RoostFile

/// Writes a run of relocations to a scratch file.
final class RunWriter {
    private let file: any File
    private let start: UInt64
    private var count = 0
    private var waiting: [Relocation] = []
    private static let part = 16_384

    init(file: any File, start: UInt64) {
        self.file = file
        self.start = start
        waiting.reserveCapacity(RunWriter.part)
    }

    var bytesWritten: UInt64 { UInt64(count * Relocation.size) }

    func append(_ relocation: Relocation) throws(StoreError) {
        waiting.append(relocation)
        if waiting.count == RunWriter.part { try flush() }
    }

    func finish(level: Int) throws(StoreError) -> RelocationRun {
        try flush()
        return RelocationRun(file: file, start: start, count: count, level: level)
    }

    private func flush() throws(StoreError) {
        let offset = start + bytesWritten
        let result: Result<Void, StoreError> = unsafe waiting.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in
                try fileCall { () throws(FileError) in unsafe try file.writeFully(bytes, at: offset) }
            }
        }
        try result.get()
        count += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Several runs as one sequence in order.
struct RunMerge {
    private var inputs: [Input]

    private struct Input {
        let run: RelocationRun
        var next = 0
        var part: [Relocation] = []
        var index = 0
    }

    private static let part = 4096

    init(_ runs: some Sequence<RelocationRun>) { inputs = runs.map { Input(run: $0) } }

    /// The relocation with the least old offset that is left.
    mutating func next() throws(StoreError) -> Relocation? {
        var least: (input: Int, relocation: Relocation)?
        for index in inputs.indices {
            guard let head = try head(index) else { continue }
            if let current = least, current.relocation.old <= head.old { continue }
            least = (index, head)
        }
        guard let least else { return nil }
        inputs[least.input].index += 1
        return least.relocation
    }

    private mutating func head(_ index: Int) throws(StoreError) -> Relocation? {
        if inputs[index].index == inputs[index].part.count {
            let input = inputs[index]
            let length = min(RunMerge.part, input.run.count - input.next)
            guard length > 0 else { return nil }
            inputs[index].part = try input.run.read(input.next, length)
            inputs[index].next += length
            inputs[index].index = 0
        }
        return inputs[index].part[inputs[index].index]
    }
}
