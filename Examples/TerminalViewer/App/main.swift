// SPDX-License-Identifier: Apache-2.0
import Foundation
import ViewerScreens

/// Writes to standard error and ends the program.
func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("TerminalViewer: \(text)\n".utf8))
    exit(status)
}

// The status 64 stands for wrong usage of a command (`EX_USAGE` of sysexits.h).
let options: Options
do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let read = try Options.read(arguments, environment: ProcessInfo.processInfo.environment) else {
        print(Options.usage, terminator: "")
        exit(0)
    }
    options = read
} catch {
    fail("\(error.text). See TerminalViewer --help.", status: 64)
}

// The stores publish and the viewer draws on the main queue, so the viewer needs no lock.
var viewer: Viewer?
Task { @MainActor in
    do {
        let account = try await Account(options.signIn)
        let newViewer = try Viewer(account, options)
        viewer = newViewer
        newViewer.start(entering: options.live)
    } catch let error as TerminalError {
        fail(error.text, status: 64)
    } catch {
        fail("\(error)", status: 1)
    }
}
RunLoop.main.run()
