// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of a row of the seat machine.
package enum SeatKey: RowKey {
    case stage(LiveKey)
    case requests(LiveKey)
    case floors(LiveKey)
    case outcomes(LiveKey, SessionID)

    package var text: String {
        switch self {
        case .stage(let live): "stage/\(live.text)"
        case .requests(let live): "requests/\(live.text)"
        case .floors(let live): "floors/\(live.text)"
        case .outcomes(let live, let session): "outcomes/\(live.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3 else { return nil }
        let live = LiveKey(AppID(parts[1]), LiveID(parts[2]))
        switch (parts[0], parts.count) {
        case ("stage", 3): self = .stage(live)
        case ("requests", 3): self = .requests(live)
        case ("floors", 3): self = .floors(live)
        case ("outcomes", 4): self = .outcomes(live, SessionID(parts[3]))
        default: return nil
        }
    }

    // Every call looks up some rows: what tells most of them apart is hashed, apps and kinds are left to `==`.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .stage(let live), .requests(let live), .floors(let live): hasher.combine(live.live.text)
        case .outcomes(let live, let session):
            hasher.combine(live.live.text)
            hasher.combine(session.text)
        }
    }

    package static func < (a: SeatKey, b: SeatKey) -> Bool { a.order < b.order }

    private var order: (Int, AppID, LiveID, SessionID) {
        switch self {
        case .stage(let key): (0, key.app, key.live, "")
        case .requests(let key): (1, key.app, key.live, "")
        case .floors(let key): (2, key.app, key.live, "")
        case .outcomes(let key, let session): (3, key.app, key.live, session)
        }
    }
}

/// One keyed piece of the seat machine's state.
package enum SeatRow: JournalRow, Codable {
    /// In a box, which a call passes on unopened until it changes something.
    case stage(stage: Boxed<SeatStage>)
    case requests(requests: SeatRequests)
    case floors(floors: Floors)
    case outcomes(outcomes: SeatOutcomes)

    package var due: Timestamp? {
        switch self {
        case .stage(let stage): stage.value.goneAt
        case .requests(let requests): requests.due
        case .floors: nil
        case .outcomes(let window): window.due
        }
    }
}

extension Journal where Key == SeatKey, Row == SeatRow {
    func stage(_ key: LiveKey) -> SeatStage? {
        if case .stage(let stage)? = self[.stage(key)] { stage.value } else { nil }
    }

    func requests(_ key: LiveKey) -> SeatRequests {
        if case .requests(let requests)? = self[.requests(key)] { requests } else { SeatRequests() }
    }

    func floors(_ key: LiveKey) -> Floors {
        if case .floors(let floors)? = self[.floors(key)] { floors } else { Floors() }
    }
}
