// SPDX-License-Identifier: Apache-2.0

/// A piece of a service that runs on its own thread until `stop`, such as a machine's shell or the gateway.
///
/// Its parts are the loops and readers that health reports name, such as the shards of a gateway. A loop turns each
/// time that it passes through its body.
package protocol ServiceComponent: Sendable {
    /// The component's name in the response of `/readyz`.
    var name: String { get }
    /// Readiness: whether the component can do its work now.
    var isReady: Bool { get }
    /// The names of the parts that are not ready.
    var unreadyParts: [String] { get }
    /// The names of the loops that have not turned for too long; only a new process helps.
    var hungLoops: [String] { get }
    /// The names of the parts that have work and make no progress, although Kafka answers; a new process may help.
    var stalledParts: [String] { get }
    /// What the component does less well at the moment, in words for operators.
    var degradations: [String] { get }
    /// Does the component's work on the calling thread, which is dedicated to it; returns soon after `stop()`.
    func run()
    /// Makes `run()` return. May be called from any thread, even before `run()`, which then returns at once.
    func stop()
}

extension ServiceComponent {
    package var unreadyParts: [String] { self.isReady ? [] : [self.name] }
    package var degradations: [String] { [] }

    /// Liveness: whether each loop turns, and each part that has work makes progress.
    package var isLive: Bool { self.hungLoops.isEmpty && self.stalledParts.isEmpty }
}

extension MachineShell: ServiceComponent {
    package var name: String { self.machineName }
}
