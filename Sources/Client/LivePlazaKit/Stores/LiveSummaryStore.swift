// SPDX-License-Identifier: Apache-2.0

/// The statistics of a live, which the server sends every few seconds; in between `totalDuration` grows each second.
public final class LiveSummaryStore: Sendable {
    /// The states of all stores of the live.
    private let stores: LiveStores

    /// The statistics.
    public var state: StatePublisher<LiveSummaryState> { self.stores.summary }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LiveSummaryStore { LivePlaza.shared.summaryStore(liveID: liveID) }
}
