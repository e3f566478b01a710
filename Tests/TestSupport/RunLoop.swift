// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// Runs a loop on the calling thread until the test stops it.
///
/// - Parameters:
///   - limit: how long the loop may run.
///   - setup: creates the objects that run on the loop.
/// - Throws: the error of `setup`, or `LoopTimeout`.
package func runLoop(limit: Duration = .seconds(30), _ setup: (EventLoop) throws -> Void) throws {
    let loop = try EventLoop()
    var isTimedOut = false
    let timer = try LoopTimer(loop: loop) { [unowned loop] _ in
        isTimedOut = true
        loop.stop()
    }
    timer.start(after: limit)
    do {
        try setup(loop)
    } catch {
        // The loop runs and stops at once, so that handles of the failed setup are closed.
        loop.stop()
        loop.run()
        throw error
    }
    loop.run()
    if isTimedOut { throw LoopTimeout(limit: limit) }
}

/// The test did not stop its loop in time.
package struct LoopTimeout: Error, CustomStringConvertible {
    let limit: Duration

    package var description: String { "the loop was not stopped within \(self.limit)" }
}
