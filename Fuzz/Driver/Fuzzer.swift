import CLibFuzzer
import Foundation

/// libFuzzer, with one target.
enum Fuzzer {
    /// What the callbacks, which have no place for it, work on. Set once, before the fuzzer starts.
    nonisolated(unsafe) fileprivate static var target: FuzzTarget?

    /// Names the target to processes that libFuzzer starts.
    static let targetVariable = "ROOST_FUZZ_TARGET"

    /// Runs until the options say so; a finding or a trap ends the process.
    static func run(_ target: FuzzTarget, options: [String]) -> Int32 {
        unsafe Fuzzer.target = target
        unsafe setenv(targetVariable, target.name, 1)
        let arguments = [CommandLine.arguments[0]] + options
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            var count = Int32(arguments.count)
            var base = buffer.baseAddress
            return unsafe LLVMFuzzerRunDriver(
                &count, &base,
                { data, size in
                    unsafe Fuzzer.feed(UnsafeRawBufferPointer(start: data, count: size))
                    return 0
                })
        }
    }

    private static func feed(_ bytes: UnsafeRawBufferPointer) {
        do {
            unsafe try target?.run(Array(bytes))
        } catch {
            fatalError("\(error)")
        }
    }
}

/// Called by libFuzzer in the place of its own mutations, which this falls back to.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ largest: Int, _ seed: UInt32) -> Int {
    guard unsafe Fuzzer.target?.isStore == true else { return unsafe LLVMFuzzerMutate(data, size, largest) }
    var mutator = unsafe StoreMutator(
        Array(UnsafeBufferPointer(start: data, count: size)), largest: largest, seed: UInt64(seed)
    ) { bytes, largest in
        var bytes = bytes
        let count = bytes.count
        bytes += [UInt8](repeating: 0, count: max(largest - count, 0))
        let length = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe LLVMFuzzerMutate($0.baseAddress!, count, largest)
        }
        return Array(bytes.prefix(length))
    }
    let mutated = mutator.mutated()
    _ = unsafe UnsafeMutableBufferPointer(start: data, count: largest).update(fromContentsOf: mutated)
    return mutated.count
}
