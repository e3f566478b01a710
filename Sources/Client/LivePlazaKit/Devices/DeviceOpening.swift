// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The wait for a media engine that opens a device.
///
/// The wait ends with the answer of the media engine, or at a limit if there is none.
final class DeviceOpening: Sendable {
    /// How long a media engine may take.
    ///
    /// The limit is long, because the system may ask the user for permission.
    static let limit = Duration.seconds(60)

    private struct State {
        /// The caller that waits.
        var caller: CheckedContinuation<DeviceError?, Never>?
        var timer: PlazaTimer?
        /// Whether the limit has passed and the media engine has not answered yet.
        var isLate = false
    }

    private let state = Locked(State())

    /// Calls `open`, and waits until `open` calls the closure that it gets; only the closure's first call counts.
    ///
    /// - Parameters:
    ///   - engine: the client's engine, on whose queue the timer runs.
    ///   - open: begins to open the device.
    ///   - afterLimit: gets an answer that comes after the limit; is called on the engine's queue.
    /// - Returns: the answer; nil if there was none within the limit.
    func wait(
        on engine: isolated PlazaEngine, for open: (@escaping @Sendable (DeviceError) -> Void) -> Void,
        afterLimit: @escaping @Sendable (DeviceError) -> Void
    ) async -> DeviceError? {
        let queue = engine.queue
        return await withCheckedContinuation { continuation in
            self.state.withLock { state in
                state.caller = continuation
                state.timer = engine.clock.schedule(after: Milliseconds(Self.limit), on: queue) {
                    self.limitReached()
                }
            }
            open { fault in
                // The answer may come on any thread.
                if self.answerReceived(fault) { queue.async { afterLimit(fault) } }
            }
        }
    }

    private func limitReached() {
        let caller = self.state.withLock { state in
            state.isLate = state.caller != nil
            // The timer may retain its action, and thus this object.
            state.timer = nil
            return state.caller.take()
        }
        caller?.resume(returning: nil)
    }

    /// Ends the wait, unless the limit has ended it.
    ///
    /// - Returns: whether the answer has come after the limit.
    private func answerReceived(_ fault: DeviceError) -> Bool {
        let (caller, isLate) = self.state.withLock { state in
            defer { (state.caller, state.isLate) = (nil, false) }
            // Otherwise the timer would retain this object until the limit.
            state.timer.take()?.cancel()
            return (state.caller, state.isLate)
        }
        caller?.resume(returning: fault)
        return isLate
    }
}
