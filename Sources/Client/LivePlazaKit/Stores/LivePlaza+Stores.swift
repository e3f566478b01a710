// SPDX-License-Identifier: Apache-2.0

/// The stores of a live; repeated calls for the same live return the same store.
extension LivePlaza {
    /// The audience of a live.
    public func audienceStore(liveID: String) -> LiveAudienceStore {
        self.stores(of: liveID).store { LiveAudienceStore($0) }
    }

    /// The messages of a live.
    public func barrageStore(liveID: String) -> BarrageStore { self.stores(of: liveID).store { BarrageStore($0) } }

    /// The seats of a live.
    public func seatStore(liveID: String) -> LiveSeatStore { self.stores(of: liveID).store { LiveSeatStore($0) } }

    /// Requests for seats.
    public func coGuestStore(liveID: String) -> CoGuestStore { self.stores(of: liveID).store { CoGuestStore($0) } }

    /// Connections with hosts of other lives.
    public func coHostStore(liveID: String) -> CoHostStore { self.stores(of: liveID).store { CoHostStore($0) } }

    /// Battles with connected hosts.
    public func battleStore(liveID: String) -> BattleStore { self.stores(of: liveID).store { BattleStore($0) } }

    /// The gifts of a live.
    public func giftStore(liveID: String) -> GiftStore { self.stores(of: liveID).store { GiftStore($0) } }

    /// The likes of a live.
    public func likeStore(liveID: String) -> LikeStore { self.stores(of: liveID).store { LikeStore($0) } }

    /// The statistics of a live.
    public func summaryStore(liveID: String) -> LiveSummaryStore {
        self.stores(of: liveID).store { LiveSummaryStore($0) }
    }
}
