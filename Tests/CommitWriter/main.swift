import Foundation
import RoostCampaign
import RoostStorage
import Synchronization

/// A program to be killed. It commits numbered work to the store at a path and writes a line for every commit that was
/// acknowledged; or it holds the store open until its standard input ends.
///
///     CommitWriter write PATH SEED THREADS
///     CommitWriter hold PATH
let arguments = CommandLine.arguments
let output = Mutex(FileHandle.standardOutput)

func tell(_ line: String) { output.withLock { $0.write(Data((line + "\n").utf8)) } }

func write(_ store: Store, _ seed: UInt64, thread: Int) throws {
    let work = NumberedWork(seed: seed &+ UInt64(thread), tree: "thread-\(thread)")
    var number = NumberedWork.number(try Contents.read(store.snapshot())[work.name])
    while true {
        number += 1
        try store.write { try work.apply(number, to: $0) }
        tell("\(thread) \(number)")
        if thread == 0, number % 150 == 0 { try store.compact() }
    }
}

switch arguments.count > 2 ? arguments[1] : "" {
case "write" where arguments.count == 5:
    var options = StoreOptions()
    options.nodeSize = 1024
    options.pendingLimit = 0
    options.logLimit = 0
    let store = try Store.open(arguments[2], options: options)
    guard let seed = UInt64(arguments[3]), let threads = Int(arguments[4]) else { exit(2) }
    let group = DispatchGroup()
    for thread in 0..<threads {
        DispatchQueue(label: "writer \(thread)").async(group: group) {
            do { try write(store, seed, thread: thread) } catch { tell("failed: \(error)") }
        }
    }
    group.wait()
case "hold":
    let store = try Store.open(arguments[2])
    tell("open")
    _ = FileHandle.standardInput.readDataToEndOfFile()
    try store.close()
default:
    exit(2)
}
