import CLibFuzzer
import Foundation

// roost-fuzz --targets             names the targets, with their corpora and longest inputs
// roost-fuzz --seeds DIRECTORY     writes the inputs that targets without a corpus start from
// roost-fuzz TARGET [OPTION…] [CORPUS…]
//                                  fuzzes; options and corpora are libFuzzer's
let arguments = CommandLine.arguments
// A process that libFuzzer starts to merge corpora is told only libFuzzer's own options.
if let name = ProcessInfo.processInfo.environment[Fuzzer.targetVariable], let target = FuzzTarget.named(name)
{
    exit(Fuzzer.run(target, options: Array(arguments.dropFirst())))
}
switch arguments.dropFirst().first {
case "--targets":
    for target in FuzzTarget.all { print(target.name, target.corpus, target.largestInput) }
case "--seeds" where arguments.count == 3:
    try Seeds.write(to: URL(fileURLWithPath: arguments[2]))
case let name?:
    guard let target = FuzzTarget.named(name) else {
        FileHandle.standardError.write(Data("There is no target \(name); --targets lists them.\n".utf8))
        exit(2)
    }
    exit(Fuzzer.run(target, options: Array(arguments.dropFirst(2))))
case nil:
    FileHandle.standardError.write(Data("usage: roost-fuzz --targets | --seeds DIRECTORY | TARGET …\n".utf8))
    exit(2)
}
