// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

@testable import Gateway

/// The reservations of memory for replayed items that are not sent yet, counted for each app.
@Suite struct ReplayReservationTests {
    /// Rules: R12.22.
    @Test func `I16 bytes count for their app as long as somebody holds the reservation`() {
        let reservedBytes = ReplayReservation.ReservedBytes()
        var reservations = [("demo", 5), ("demo", 7), ("other", 3)].map { app, bytes in
            ReplayReservation(bytes: bytes, of: AppID(app), in: reservedBytes)
        }
        #expect(reservedBytes.countsByApp == ["demo": 12, "other": 3] && reservedBytes.count == 15)
        // A client that still sends holds its reservation.
        let heldReservation = reservations.removeFirst()
        reservations = []
        #expect(reservedBytes.countsByApp == ["demo": 5])
        withExtendedLifetime(heldReservation) {}
    }
}
