// SPDX-License-Identifier: Apache-2.0

/// A part of a service that runs on its own thread until `stop`, such as a machine's shell or the gateway.
package protocol ServiceComponent: Sendable {
    /// The component's name in the response of `/readyz`.
    var name: String { get }
    /// Readiness: whether the component can do its work now.
    var isReady: Bool { get }
    /// Liveness: whether the component's loop still makes progress.
    var isLive: Bool { get }
    /// Does the component's work on the calling thread, which is dedicated to it; returns soon after `stop()`.
    func run()
    /// Makes `run()` return. May be called from any thread, also before `run()`, which then returns at once.
    func stop()
}

extension MachineShell: ServiceComponent {
    package var name: String { self.machineName }
}
