// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import MachineKit

extension LivePlaza {
    /// The server's time, by which an app shows when a battle or a request ends.
    ///
    /// Before the first login, it is the time of the device's own clock, which may be wrong. It can be read on any
    /// thread.
    public var serverTime: Date { Date(timeIntervalSince1970: Double(self.engine.serverTime.milliseconds) / 1000) }
}

extension PlazaEngine {
    /// The server's time; the device's own time until a reply has contained the server's time.
    nonisolated var serverTime: WallTime {
        guard let offset = self.serverTimeOffset.withLock({ $0 }) else { return self.clock.wall }
        return self.clock.now + offset
    }
}
