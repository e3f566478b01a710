// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import PlazaModel

/// Accounts for the bytes of items that the replay reader has read and that are not sent yet.
///
/// The bytes are counted as long as the reservation exists; whoever still has to send the items holds it. While the sum
/// exceeds `ReplayLimits.maxUnsentBytes`, no further scan begins (I16, bounded memory).
package final class ReplayReservation: Sendable {
    /// The sum of all reservations, by app.
    package final class Sum: Sendable {
        private let bytesByApp = Locked<[AppID: Int]>([:])

        /// Creates a sum of zero.
        package init() {}

        /// The number of reserved bytes of each app that has some.
        package var byteCounts: [AppID: Int] { self.bytesByApp.withLock { $0 } }

        /// The number of reserved bytes.
        package var byteCount: Int { self.byteCounts.values.reduce(0, +) }

        fileprivate func add(_ count: Int, of app: AppID) {
            self.bytesByApp.withLock { bytes in
                let sum = bytes[app, default: 0] + count
                bytes[app] = sum == 0 ? nil : sum
            }
        }
    }

    private let bytes: Int
    private let app: AppID
    private let sum: Sum

    /// Adds `bytes` of an app's items to the sum until the reservation is deallocated.
    package init(bytes: Int, of app: AppID, in sum: Sum) {
        self.bytes = bytes
        self.app = app
        self.sum = sum
        sum.add(bytes, of: app)
    }

    deinit { self.sum.add(-self.bytes, of: self.app) }
}
