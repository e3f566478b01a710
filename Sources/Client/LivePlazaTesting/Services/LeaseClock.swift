// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The clock of the leases, the records that members are present: it has the time of day and the lease time.
///
/// The lease time decides when a lease ends. It stops during a standstill, a long time without an input, so that no
/// lease ends meanwhile.
struct LeaseClock: Sendable {
    /// How long a lease lasts after the last heartbeat.
    let leaseDuration: Milliseconds
    /// The time of day of the last input.
    private(set) var now = Timestamp.distantPast
    /// The sum of the gaps in which no input was received.
    private var standstill = Milliseconds(0)

    init(leaseDuration: Milliseconds) { self.leaseDuration = leaseDuration }

    /// The time of day without the standstills; it decides when a lease ends.
    var leaseTime: Timestamp { self.now - self.standstill }

    /// Advances to the time of an input.
    mutating func advance(to moment: Moment) {
        self.standstill = self.standstill + Moment.standstill(from: self.now, to: moment.now)
        self.now = max(self.now, moment.now)
    }

    /// The `leaseTime` at which a session's lease ends if the session's last heartbeat was `silence` ago.
    func leaseEnd(silentFor silence: Milliseconds = Milliseconds(0)) -> Timestamp {
        self.leaseTime - silence + self.leaseDuration
    }
}
