// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The key of a row of the seat machine.
package enum SeatKey: RowKey {
    /// The stage of a live.
    case stage(LiveKey)
    /// One page of the open seat requests of a live.
    case requests(LiveKey, page: Int = 0)
    /// The revocation fence: the lowest tickets that users kicked from a live may still use.
    case fence(LiveKey)
    /// The history of one session's calls in a live: their outcomes and their rate.
    case callHistory(LiveKey, SessionID)

    /// The stored key; a fence is stored as `floors` and a call history as `outcomes`, because stored names
    /// never change.
    package var text: String {
        switch self {
        case .stage(let live): "stage/\(live.text)"
        // The first page has the name of the one row that older versions wrote.
        case .requests(let live, let page): page == 0 ? "requests/\(live.text)" : "requests/\(live.text)/\(page)"
        case .fence(let live): "floors/\(live.text)"
        case .callHistory(let live, let session): "outcomes/\(live.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = RecordKey.parts(of: text)
        guard parts.count >= 3 else { return nil }
        let live = LiveKey(AppID(parts[1]), LiveID(parts[2]))
        switch (parts[0], parts.count) {
        case ("stage", 3): self = .stage(live)
        case ("requests", 3): self = .requests(live)
        case ("requests", 4):
            // Only the plain form of a number is a page (not "01" or "+1"), so that each page has one stored key.
            guard let page = Int(parts[3]), (1..<SeatRequests.maxPageCount).contains(page), parts[3] == "\(page)" else {
                return nil
            }
            self = .requests(live, page: page)
        case ("floors", 3): self = .fence(live)
        case ("outcomes", 4): self = .callHistory(live, SessionID(parts[3]))
        default: return nil
        }
    }

    // Every call looks up rows, so hashing must be cheap. Only the live's id and the session are hashed; `==` compares
    // all parts.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .stage(let live), .requests(let live, _), .fence(let live): hasher.combine(live.live.text)
        case .callHistory(let live, let session):
            hasher.combine(live.live.text)
            hasher.combine(session.text)
        }
    }

    package static func < (a: SeatKey, b: SeatKey) -> Bool { a.sortKey < b.sortKey }

    /// The kind, app, live, session and page.
    private var sortKey: (Int, AppID, LiveID, SessionID, Int) {
        switch self {
        case .stage(let key): (0, key.app, key.live, "", 0)
        case .requests(let key, let page): (1, key.app, key.live, "", page)
        case .fence(let key): (2, key.app, key.live, "", 0)
        case .callHistory(let key, let session): (3, key.app, key.live, session, 0)
        }
    }
}

/// One keyed piece of the seat machine's state.
package enum SeatRow: JournalRow, Codable {
    /// Copy-on-write: a call copies the stage only when it changes something.
    case stage(stage: CopyOnWrite<SeatStage>)
    case requests(requests: SeatRequests)
    case fence(fence: RevocationFence)
    case callHistory(history: SeatCallHistory)

    /// The names in stored rows; two differ from their cases, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case stage, requests
        case fence = "floors"
        case callHistory = "outcomes"
    }
    // These two enums set the stored names of the parameters of the cases `fence` and `callHistory`. The compiler looks
    // for enums with exactly these names.
    private enum FenceCodingKeys: String, CodingKey {
        case fence = "floors"
    }
    private enum CallHistoryCodingKeys: String, CodingKey {
        case history = "outcomes"
    }

    package var due: Timestamp? {
        switch self {
        case .stage(let stage): stage.value.removalTime ?? stage.value.nextItemTime
        case .requests(let requests): requests.due
        case .fence: nil
        case .callHistory(let history): history.window.due
        }
    }
}

extension Journal where Key == SeatKey, Row == SeatRow {
    /// The stage of a live, open or ended; nil when there is none.
    func stage(_ key: LiveKey) -> SeatStage? {
        if case .stage(let stage)? = self[.stage(key)] { stage.value } else { nil }
    }

    /// The revocation fence of a live; an empty fence if the live has kicked nobody.
    func fence(of key: LiveKey) -> RevocationFence {
        if case .fence(let fence)? = self[.fence(key)] { fence } else { RevocationFence() }
    }
}
