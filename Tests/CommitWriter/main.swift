import Foundation
import RoostCampaign
import RoostStorage
import Synchronization

/// A program to be killed. It commits numbered work to the store at a path and writes a line for every commit that was
/// acknowledged; or it holds the store open until its standard input ends.
///
///     CommitWriter write PATH SEED THREADS
///     CommitWriter compact PATH SEED       compacts without a pause beside the commits
///     CommitWriter backup PATH SEED        brings the backup at PATH.backup up to date after every few commits
///     CommitWriter fill PATH SEED BYTES    until the file may grow no further than BYTES; then writes "full"
///     CommitWriter follow PATH SEED        reads what another process commits, until its standard input ends
///     CommitWriter fault PATH              reads a value from the mapping, then raises SIGBUS, for which it has a handler
///     CommitWriter turns PATH NUMBER LOGLIMIT   writes by turns with others: its own tree, and a count of all commits
///     CommitWriter hold PATH
///     CommitWriter fork PATH WRITERS   forks a child that writes, compacts and closes by its parent's handle
///     CommitWriter limit PATH          writes and compacts where the process may have no more memory
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

/// Options with which checkpoints are frequent.
func busyOptions() -> StoreOptions {
    var options = StoreOptions()
    options.nodeSize = 1024
    options.pendingLimit = 0
    options.logLimit = 0
    options.compactsAutomatically = false
    return options
}

/// Commits for ever, telling each number, and does `more` after it.
func commit(_ store: Store, _ seed: UInt64, _ more: (UInt64) throws -> Void = { _ in }) throws {
    let work = NumberedWork(seed: seed, tree: "thread-0")
    var number = NumberedWork.number(try Contents.read(store.snapshot())[work.name])
    while true {
        number += 1
        try store.write { try work.apply(number, to: $0) }
        tell("0 \(number)")
        try more(number)
    }
}

/// Commits for ever beside other processes: numbered work on a tree of its own, and one more in a count that all share.
func takeTurns(_ path: String, _ process: UInt64, logLimit: UInt64) throws {
    var options = busyOptions()
    options.writers = .takingTurns
    options.logLimit = logLimit
    options.pendingLimit = Int(logLimit)
    let store = try Store.open(path, options: options)
    let work = NumberedWork(seed: 11 &+ process, tree: "process-\(process)", largestValue: 2000)
    let count = try store.tree("count")
    _ = try store.refresh()
    var number = NumberedWork.number(try Contents.read(store.snapshot())[work.name])
    while true {
        number += 1
        try store.write { transaction in
            let before = try transaction[count, "count"].flatMap { Key($0).number } ?? 0
            try transaction.put("count", Key(before + 1).bytes, in: count)
            try work.apply(number, to: transaction)
        }
        tell("\(process) \(number)")
        guard number % 50 == 0 else { continue }
        // Another process may be compacting.
        let outcome = Result { () throws(StoreError) in try store.compact() }
        if case .failure(let error) = outcome, error.code != .locked { throw error }
    }
}

/// Reads the newest commits as they come, and ends with a line for anything that is not as some commit left it.
func follow(_ path: String, _ seed: UInt64) throws {
    var options = busyOptions()
    options.isReadOnly = true
    let store = try Store.open(path, options: options)
    let work = NumberedWork(seed: seed, tree: "thread-0")
    let isDone = Atomic(false)
    Thread.detachNewThread {
        _ = FileHandle.standardInput.readDataToEndOfFile()
        isDone.store(true, ordering: .relaxed)
    }
    var (last, model): (UInt64, TreeModel) = (0, TreeModel())
    while !isDone.load(ordering: .relaxed) {
        _ = try store.refresh()
        let found = try Contents.read(store.snapshot())[work.name]
        let number = NumberedWork.number(found)
        guard number >= last else { return tell("backwards from \(last) to \(number)") }
        for next in stride(from: last + 1, through: number, by: 1) { work.apply(next, to: &model) }
        guard found == model else { return tell("not as commit \(number) left it") }
        if number > last { tell("0 \(number)") }
        last = number
    }
    tell("done")
}

#if os(Linux)
    /// Lets the process have no more than so many bytes of addresses beyond those it has.
    func limitMemory(_ more: rlim_t) {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .first
        var limit = rlimit()
        guard let pages = pages.flatMap({ rlim_t($0) }),
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        else { exit(2) }
        limit.rlim_cur = pages * rlim_t(sysconf(Int32(_SC_PAGESIZE))) + more
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { exit(2) }
    }
#endif

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
case "compact" where arguments.count == 4:
    let store = try Store.open(arguments[2], options: busyOptions())
    Thread.detachNewThread {
        while true {
            do { try store.compact() } catch { tell("failed: \(error)") }
        }
    }
    try commit(store, UInt64(arguments[3]) ?? 0)
case "backup" where arguments.count == 4:
    let store = try Store.open(arguments[2], options: busyOptions())
    try commit(store, UInt64(arguments[3]) ?? 0) { number in
        if number % 3 == 0 { try store.backup(to: arguments[2] + ".backup") }
        if number % 40 == 0 { try store.compact() }
    }
case "fill" where arguments.count == 5:
    // Without this a write beyond the limit ends the process.
    signal(SIGXFSZ, SIG_IGN)
    let bytes = rlim_t(arguments[4]) ?? 0
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    #if canImport(Darwin)
        guard unsafe setrlimit(RLIMIT_FSIZE, &limit) == 0 else { exit(2) }
    #else
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
    #endif
    let store = try Store.open(arguments[2], options: busyOptions())
    do {
        try commit(store, UInt64(arguments[3]) ?? 0)
    } catch let error as StoreError where error.code == .noSpace {
        tell("full")
    }
    // What was there is there still, and can be read.
    tell("1 \(NumberedWork.number(try Contents.read(store.snapshot())["thread-0"]))")
case "follow" where arguments.count == 4:
    try follow(arguments[2], UInt64(arguments[3]) ?? 0)
case "fault":
    // A host's own handler, there before the store's.
    signal(SIGBUS) { _ in _exit(3) }
    let store = try Store.open(arguments[2])
    let tree = try store.tree("values")
    try store.write { try $0.put("key", [UInt8](repeating: 7, count: 1000), in: tree) }
    tell("\(try store.snapshot()[tree].value("key")?.count ?? 0)")
    raise(SIGBUS)
case "turns" where arguments.count == 5:
    do {
        try takeTurns(arguments[2], UInt64(arguments[3]) ?? 0, logLimit: UInt64(arguments[4]) ?? 0)
    } catch {
        tell("failed: \(error)")
    }
case "hold":
    let store = try Store.open(arguments[2])
    tell("open")
    _ = FileHandle.standardInput.readDataToEndOfFile()
    try store.close()
#if os(Linux)
    case "fork" where arguments.count == 4:
        var options = StoreOptions()
        options.writers = arguments[3] == "turns" ? .takingTurns : .one
        let store = try Store.open(arguments[2], options: options)
        let tree = try store.tree("values")
        try store.write { try $0.put("before", [1], in: tree) }
        let child = fork()
        if child == 0 {
            let works: [() throws -> Void] = [
                { try store.write { try $0.put("child", [1], in: tree) } },
                { _ = try store.compact() },
            ]
            for work in works {
                do {
                    try work()
                    tell("done by the child")
                } catch {
                    tell("\((error as? StoreError)?.code.description ?? "?")")
                }
            }
            try? store.close()
            _exit(0)
        }
        var status: Int32 = 0
        _ = unsafe waitpid(child, &status, 0)
        try store.write { try $0.put("after", [1], in: tree) }
        // The child's end has not given the lock back.
        do { _ = try Store.open(arguments[2]) } catch { tell("\(error.code)") }
        try store.close()
        tell("closed")
    case "limit" where arguments.count == 3:
        // What hangs is ended.
        alarm(60)
        limitMemory(2 << 30)
        var options = StoreOptions()
        options.compactsAutomatically = false
        let store = try Store.open(arguments[2], options: options)
        let tree = try store.tree("values")
        let value = [UInt8](repeating: 7, count: 100)
        func fill() throws {
            try store.write { transaction in
                for number in 0..<2000 as Range<UInt64> { try transaction.put(Key(number), value, in: tree) }
            }
        }
        try fill()
        limitMemory(6 << 20)
        let works: [() throws -> Void] = [
            { try fill() }, { _ = try store.compact() }, { _ = try Store.open(arguments[2] + "2") },
        ]
        for work in works {
            do {
                try work()
                tell("done")
            } catch {
                tell("\(error)")
            }
        }
        limitMemory(2 << 30)
        try fill()
        try store.compact()
        try store.close()
        tell("closed")
#endif
default:
    exit(2)
}
