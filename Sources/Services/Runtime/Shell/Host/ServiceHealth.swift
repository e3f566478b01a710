// SPDX-License-Identifier: Apache-2.0

/// The health of a service, as its ops port reports it.
package struct ServiceHealth: Equatable, Sendable {
    /// The parts that cannot do their work now; before the service has components, what it waits for.
    package var unready: [String]
    /// The parts whose loops hang, or that have work and make no progress.
    package var hungOrStalled: [String]
    /// What the service does less well at the moment, in words for operators.
    ///
    /// It still works, so it stays ready.
    package var degraded: [String]

    /// Creates a health; without arguments it is good.
    package init(unready: [String] = [], hungOrStalled: [String] = [], degraded: [String] = []) {
        self.unready = unready
        self.hungOrStalled = hungOrStalled
        self.degraded = degraded
    }

    /// Whether `/livez` answers 200.
    package var isLive: Bool { self.hungOrStalled.isEmpty }

    /// Whether `/readyz` answers 200.
    package var isReady: Bool { self.unready.isEmpty && self.hungOrStalled.isEmpty }

    /// The text of `/readyz`, which names each problem: `ready`, `ready; degraded: …`, `waits for: …`.
    package var readinessText: String {
        var parts = self.isReady ? ["ready"] : []
        for (title, names) in [
            ("waits for", self.unready), ("makes no progress", self.hungOrStalled), ("degraded", self.degraded),
        ] where !names.isEmpty {
            parts.append("\(title): \(names.joined(separator: ", "))")
        }
        return parts.joined(separator: "; ")
    }
}
