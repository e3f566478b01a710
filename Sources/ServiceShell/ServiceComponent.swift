// SPDX-License-Identifier: Apache-2.0

/// A part of a service that runs until it is told to stop: a machine's shell, a gateway.
package protocol ServiceComponent: Sendable {
    /// Its name in readiness answers.
    var name: String { get }
    /// Whether it does its work now.
    var isReady: Bool { get }
    /// Whether it still moves at all.
    var isLive: Bool { get }
    /// Does its work on the calling thread, which is its own, and returns soon after `stop()`.
    func run()
    /// Asks it to end; may be called from any thread, and before `run()`.
    func stop()
}

extension MachineShell: ServiceComponent {
    package var name: String { self.machineName }
}
