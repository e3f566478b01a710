// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// What a `LiveFold` receives: items of the feed, counts, notices, snapshots, and changes by this client.
enum FoldInput: Sendable {
    case item(FeedEntry)
    case counts(LiveCount)
    case notice(NoticeContent, at: Timestamp)
    case snapshot(Snapshot)
    case local(LocalChange)
}

/// A part of a live's state that a client reads with a call: when it enters the live, and after a gap in the feed.
enum SnapshotName: CaseIterable, Sendable {
    case details, audience, statistics
    /// The open requests for seats: all of them for hosts, a viewer's own ones for a viewer.
    case seatRequests
    /// All mutes, for hosts.
    case mutes
    /// Whether this user is muted.
    case ownMute
    /// The open requests between this live and others, for the owner.
    case coHostRequests, battleRequests
}

extension FoldInput {
    /// The broker's time of an item or a notice; nil for other inputs.
    var at: Timestamp? {
        switch self {
        case .item(let entry): entry.at
        case .notice(_, let at): at
        case .counts, .snapshot, .local: nil
        }
    }
}

/// The result of a read.
enum Snapshot: Sendable {
    case details(LiveDetails)
    case audience(AudiencePage)
    case statistics(LiveStatistics, at: Timestamp?)
    case seatRequests(applications: [OpenApplication], invitations: [OpenInvitation], at: Timestamp?)
    case mutes(SanctionPage)
    case ownMute(SanctionPage)
    case coHostRequests(sent: [OpenCoHostRequest], received: [OpenCoHostRequest], at: Timestamp)
    case battleRequests(sent: [OpenBattleRequest], received: [OpenBattleRequest], at: Timestamp)
    /// A page of lives that could be asked to connect. If `isFirst`, it replaces the pages that were read before.
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
        case .ownMute: .ownMute
        case .coHostRequests: .coHostRequests
        case .battleRequests: .battleRequests
        case .candidates, .gifts: nil
        }
    }

    /// The time of the snapshot: it contains the changes of all feed items and notices up to this time (R1.19).
    ///
    /// Nil if the server does not tell, and for `details`, whose parts have revisions of their own.
    var at: Timestamp? {
        switch self {
        case .audience(let page): page.at
        case .statistics(_, let at), .seatRequests(_, _, let at): at
        case .mutes(let page), .ownMute(let page): page.at
        case .coHostRequests(_, _, let at), .battleRequests(_, _, let at): at
        case .details, .candidates, .gifts: nil
        }
    }
}

/// A change by one of this client's own calls, or by the client itself.
enum LocalChange: Sendable {
    /// The app has added a message to the list of this client only.
    case tip(Barrage)
    /// The server has refused a message because this user is muted.
    case selfMuted
    case applicationAnswered(user: String)
    case invited(user: String)
    case invitationCancelled(user: String)
    case coHostRequested(lives: [String])
    case coHostRequestEnded(inviter: String, invitee: String)
    /// This many milliseconds have passed since the last such change.
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
        case (.mutes, .item(let entry)), (.ownMute, .item(let entry)): entry.content.isMuteChange
        case (.statistics, .item(let entry)):
            switch entry.content {
            case .likes, .summary: true
            default: false
            }
        case (.seatRequests, .local(let change)):
            switch change {
            case .applicationAnswered, .invited, .invitationCancelled: true
            default: false
            }
        case (.coHostRequests, .local(let change)):
            switch change {
            case .coHostRequested, .coHostRequestEnded: true
            default: false
            }
        case (.coHostRequests, .notice(let content, _)):
            switch content {
            case .coHostRequestReceived, .coHostRequestCancelled, .coHostRequestAccepted, .coHostRequestRejected,
                .coHostRequestTimedOut:
                true
            default: false
            }
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
    /// Whether the item says that a user was muted or unmuted.
    fileprivate var isMuteChange: Bool {
        if case .messageDisabled = self { return true }
        return false
    }
}
