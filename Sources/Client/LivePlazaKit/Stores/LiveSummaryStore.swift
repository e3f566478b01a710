// SPDX-License-Identifier: Apache-2.0

/// The figures of a live, which the server tells every few seconds; `totalDuration` is counted on each second in between.
public final class LiveSummaryStore: Sendable {
    private let stores: LiveStores

    /// The figures.
    public var state: StatePublisher<LiveSummaryState> { self.stores.summary }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> LiveSummaryStore { LivePlaza.shared.summaryStore(liveID: liveID) }
}
