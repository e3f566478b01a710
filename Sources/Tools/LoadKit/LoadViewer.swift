// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// One viewer of a live.
final class LoadViewer {
    let connection: PlazaConnection
    unowned let live: LoadLive
    let index: Int
    /// Whether the viewer has sent `live.join`; it does so once, because the connection repeats an unanswered call.
    var hasSentJoin = false
    /// Whether the viewer has joined its live.
    var hasEntered = false
    /// How many items the viewer had received when sending began; the report does not count them.
    var receivedBeforeSending = 0
    /// The connection's tracker as it was after the last frame, to find what the next frame changes.
    var trackerOfLastFrame = FeedOrderTracker()
    /// Measures the longest time during the stage `sending` in which this viewer received nothing.
    var pauseClock = PauseClock()
    /// The feed number of the last item that the viewer had received when sending began.
    var numberBeforeSending: Int64 = 0

    init(_ connection: PlazaConnection, _ live: LoadLive, index: Int) {
        self.connection = connection
        self.live = live
        self.index = index
    }

    /// The viewer's name in incidents.
    var name: String { "viewer \(self.index)" }

    /// How many items this viewer should have received since sending began, and did not receive.
    ///
    /// It counts the items that were skipped between received ones, and those that follow the last received one, up to
    /// the last acknowledged message.
    var missing: Int {
        let last = self.connection.tracker.position?.number ?? 0
        return self.connection.tracker.missing
            + Int(max(0, self.live.highestAcknowledged - max(last, self.numberBeforeSending)))
    }
}
