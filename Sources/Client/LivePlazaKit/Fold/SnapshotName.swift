// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A part of a live's state that a client reads with a call: when it enters the live, and after a gap in the feed.
enum SnapshotName: CaseIterable, Sendable {
    /// The live's info, its stage and the counts of its viewers.
    case details
    /// The viewers at the beginning of the audience list.
    case audience
    /// The numbers of joins, gifts, likes and messages.
    case statistics
    /// The open requests for seats: for a host all requests, for a viewer the viewer's own requests.
    case seatRequests
    /// The mutes, and whether this user is muted: all mutes for hosts, the first ones for viewers.
    case mutes
    /// The open requests between this live and other lives, for the owner.
    case coHostRequests, battleRequests
}

extension SnapshotName {
    /// Whether the snapshot contains open requests.
    var hasRequests: Bool { self == .seatRequests || self == .coHostRequests || self == .battleRequests }

    /// Whether an input changes what this snapshot contains: its states, or which requests are open.
    ///
    /// Such an input must be applied again to a snapshot if it was received during the read of this snapshot.
    func isChanged(by input: FoldInput) -> Bool {
        switch input {
        case .item(let entry): self.isChanged(by: entry.content)
        case .counts: self == .details
        case .notice(let content, _): self.isChanged(by: content)
        case .local(let change): self.isChanged(by: change)
        case .snapshot: false
        }
    }

    private func isChanged(by content: FeedContent) -> Bool {
        switch content {
        case .infoChanged, .metadataChanged, .adminSet, .adminRevoked, .stage: self == .details
        case .userChanged: self == .details || self == .audience
        case .audienceJoined, .audienceLeft: self == .audience
        case .messageDisabled: self == .mutes
        case .likes, .summary: self == .statistics
        default: false
        }
    }

    private func isChanged(by content: NoticeContent) -> Bool {
        switch content {
        case .coHostRequestReceived, .coHostRequestCancelled, .coHostRequestAccepted, .coHostRequestRejected,
            .coHostRequestTimedOut:
            self == .coHostRequests
        case .applicationReceived, .applicationCancelled, .applicationProcessed, .applicationTimedOut,
            .applicationAnswered, .applicationNoResponse, .invitationAnswered, .invitationNoResponse,
            .invitationReceived, .invitationCancelled, .invitationTimedOut:
            self == .seatRequests
        case .battleRequestReceived, .battleRequestCancelled, .battleRequestAccepted, .battleRequestRejected,
            .battleRequestTimedOut:
            self == .battleRequests
        default: false
        }
    }

    private func isChanged(by change: LocalChange) -> Bool {
        switch change {
        case .applicationAnswered, .applicationCancelled, .invitationAnswered, .invitationCancelled:
            self == .seatRequests
        case .coHostRequestEnded: self == .coHostRequests
        case .battleAnswered, .battleRequestCancelled: self == .battleRequests
        // `OpenRequestTracker` itself keeps the requests that were sent during a read.
        case .invited, .coHostRequested, .requestsSending, .requestsSent, .noticesDue: false
        case .tip, .selfMuted, .elapsed, .mediaMeasured, .itemsMissed: false
        }
    }
}
