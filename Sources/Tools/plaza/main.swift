// SPDX-License-Identifier: Apache-2.0
import Foundation

// Without the name of a subcommand, it prints the list of subcommands.
let arguments = Array(CommandLine.arguments.dropFirst())
exit(await Subcommands.run(arguments, environment: ProcessInfo.processInfo.environment))
