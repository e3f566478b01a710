// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit

// The steps of docs/FIRST-LIVE.md. The page shows the bodies of these functions.

/// Creates a live and enters it.
///
/// - Returns: the id of the live.
package func goLive(_ plaza: LivePlaza) async throws -> String {
    var info = LiveInfo(seatTemplate: .videoDynamicGrid9Seats)
    info.liveID = "my-first-live"
    info.liveName = "My first live"
    let live = try await plaza.liveListStore.createLive(info)
    return live.liveID
}

/// Enters the first live of the list.
///
/// - Returns: the id of the live; nil if nobody is live.
package func watch(_ plaza: LivePlaza) async throws -> String? {
    let list = plaza.liveListStore
    try await list.fetchLiveList(cursor: "", count: 20)
    guard let first = list.state.value.liveList.first else { return nil }
    _ = try await list.joinLive(liveID: first.liveID)
    return first.liveID
}

/// Shows each message of a live once, until the task is cancelled.
package func showMessages(of liveID: String, _ plaza: LivePlaza, show: (String) -> Void) async {
    let barrage = plaza.barrageStore(liveID: liveID)
    var last = 0
    for await state in barrage.state.values {
        for message in state.messageList where message.sequence > last {
            show("\(message.sender.userID): \(message.textContent)")
            last = message.sequence
        }
    }
}

/// Sends a message, and asks for a seat.
package func takePart(in liveID: String, _ plaza: LivePlaza) async throws {
    try await plaza.barrageStore(liveID: liveID).sendTextMessage(text: "hello")
    try await plaza.coGuestStore(liveID: liveID).applyForSeat(timeout: 30)
}

/// Gives a seat to everybody who asks for one, until the task is cancelled.
package func giveSeats(in liveID: String, _ plaza: LivePlaza) async {
    let guests = plaza.coGuestStore(liveID: liveID)
    for await state in guests.state.values {
        for guest in state.applicants {
            // A guest who has changed their mind meanwhile is not an error here.
            try? await guests.acceptApplication(userID: guest.userID)
        }
    }
}
