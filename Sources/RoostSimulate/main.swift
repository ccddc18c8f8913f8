import Foundation

exit(SimulateCommand.run(Array(CommandLine.arguments.dropFirst())))
