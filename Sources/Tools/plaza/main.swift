// SPDX-License-Identifier: Apache-2.0
import Foundation

// If no argument names a subcommand, `Subcommands.run` prints the list of subcommands.
let arguments = Array(CommandLine.arguments.dropFirst())
exit(await Subcommands.run(arguments, environment: ProcessInfo.processInfo.environment))
