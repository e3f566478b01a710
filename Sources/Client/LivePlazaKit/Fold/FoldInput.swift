// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// An input of a fold.
enum FoldInput: Sendable {
    case item(FeedEntry)
    case counts(LiveCount)
    case notice(NoticeContent, at: Timestamp)
    case snapshot(Snapshot)
    case local(LocalChange)
}

/// A part of a live's state that a client reads when it enters the live, and after a gap in the feed.
enum SnapshotName: CaseIterable, Sendable {
    case details, audience, statistics, seatRequests, mutes
}

/// The result of a read.
enum Snapshot: Sendable {
    case details(LiveDetails)
    case audience(AudiencePage)
    case statistics(LiveStatistics)
    case seatRequests(applications: [OpenApplication], invitations: [OpenInvitation])
    case mutes([Sanction])
    /// A page of lives that could be asked to connect; if `isFirst`, it replaces the pages that were read before.
    case candidates([LiveListEntry], cursor: String, isFirst: Bool)
    case gifts([PlazaModel.GiftCategory])

    /// The name of the snapshot; nil for candidates and gifts, which are read only at the app's request.
    var name: SnapshotName? {
        switch self {
        case .details: .details
        case .audience: .audience
        case .statistics: .statistics
        case .seatRequests: .seatRequests
        case .mutes: .mutes
        case .candidates, .gifts: nil
        }
    }
}

/// A change by one of this client's own calls, or by the client itself.
enum LocalChange: Sendable {
    /// The app has added a message to the list of this client only.
    case tip(Barrage)
    /// A message of this user was refused because it is muted.
    case selfMuted
    case applicationAnswered(user: String)
    case invited(user: String)
    case invitationCancelled(user: String)
    case coHostRequested(lives: [String])
    case coHostRequestEnded(inviter: String, invitee: String)
    /// This many milliseconds have passed.
    case elapsed(UInt)
}

/// An event of a store.
enum StoreEvent: Sendable, Hashable {
    case audience(LiveAudienceEvent)
    case seat(LiveSeatEvent)
    case guest(GuestEvent)
    case host(HostEvent)
    case coHost(CoHostEvent)
    case battle(BattleEvent)
    case gift(GiftEvent)
    case like(LikeEvent)
}

extension SnapshotName {
    /// Whether an input changes the state of this snapshot, so that it must be folded into the snapshot again.
    func isChanged(by input: FoldInput) -> Bool {
        switch (self, input) {
        case (.details, .counts): true
        case (.details, .item(let entry)):
            switch entry.content {
            case .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .userChanged, .stage: true
            default: false
            }
        case (.audience, .item(let entry)):
            switch entry.content {
            case .audienceJoined, .audienceLeft, .userChanged: true
            default: false
            }
        case (.mutes, .item(let entry)): entry.content.isMessageDisabled
        case (.statistics, .item(let entry)):
            switch entry.content {
            case .likes, .summary: true
            default: false
            }
        case (.seatRequests, .local): true
        case (.seatRequests, .notice(let content, _)):
            switch content {
            case .applicationReceived, .applicationCancelled, .applicationProcessed, .applicationTimedOut,
                .invitationAnswered, .invitationNoResponse:
                true
            default: false
            }
        default: false
        }
    }
}

extension FeedContent {
    fileprivate var isMessageDisabled: Bool {
        if case .messageDisabled = self { return true }
        return false
    }
}
