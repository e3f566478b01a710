// SPDX-License-Identifier: Apache-2.0
import Foundation

// Anything but a subcommand's name prints what there is.
let arguments = Array(CommandLine.arguments.dropFirst())
exit(await Subcommands.run(arguments, environment: ProcessInfo.processInfo.environment))
