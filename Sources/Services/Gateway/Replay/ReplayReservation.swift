// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import PlazaModel

/// Accounts for the bytes of items that the replay reader has read and that are not sent yet.
///
/// The bytes are counted as long as the reservation exists. Each client that must still get items holds a reference to
/// the reservation. While the bytes of all reservations exceed `ReplayLimits.maxUnsentBytes`, no further scan begins
/// (I16 in docs/RULES.md).
package final class ReplayReservation: Sendable {
    /// The bytes of all reservations, by app.
    package final class ReservedBytes: Sendable {
        private let counts = Locked<[AppID: Int]>([:])

        /// Creates a count of zero.
        package init() {}

        /// The number of reserved bytes of each app that has some.
        package var countsByApp: [AppID: Int] { self.counts.withLock { $0 } }

        /// The number of reserved bytes of all apps.
        package var count: Int { self.countsByApp.values.reduce(0, +) }

        fileprivate func add(_ count: Int, of app: AppID) {
            self.counts.withLock { counts in
                let sum = counts[app, default: 0] + count
                counts[app] = sum == 0 ? nil : sum
            }
        }
    }

    private let bytes: Int
    private let app: AppID
    private let reservedBytes: ReservedBytes

    /// Adds `bytes` of an app's items to `reservedBytes` until the reservation is deallocated.
    package init(bytes: Int, of app: AppID, in reservedBytes: ReservedBytes) {
        self.bytes = bytes
        self.app = app
        self.reservedBytes = reservedBytes
        reservedBytes.add(bytes, of: app)
    }

    deinit { self.reservedBytes.add(-self.bytes, of: self.app) }
}
