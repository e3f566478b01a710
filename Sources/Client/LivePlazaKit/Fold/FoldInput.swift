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

/// A change by one of this client's own calls, or by the client itself.
enum LocalChange: Sendable {
    /// The app has added a message to the list of this client only. (The feed's items of the class `tip` are something
    /// else: users who join and leave.)
    case tip(Barrage)
    /// The server has rejected a message because this user is muted.
    case selfMuted
    /// This user has accepted or declined the application of `user`.
    case applicationAnswered(user: String)
    /// This user has withdrawn its own application.
    case applicationCancelled
    /// This user has accepted or declined the invitation of `host`.
    case invitationAnswered(host: String)
    /// This user has invited `user` to a seat.
    case invited(user: String)
    /// This user has withdrawn the invitation of `user`.
    case invitationCancelled(user: String)
    /// This user has asked the hosts of these lives to connect.
    case coHostRequested(lives: [String])
    /// A request to connect has ended; `inviter` and `invitee` are the ids of the two lives.
    case coHostRequestEnded(inviter: String, invitee: String)
    /// This user has accepted or declined a request for a battle.
    case battleAnswered(battle: String)
    /// This user has withdrawn its request for a battle to the hosts of these lives.
    case battleRequestCancelled(battle: String, lives: [String])
    /// A call of this client begins that may open these requests.
    case requestsSending([RequestName])
    /// A call that may open requests has ended; it has opened the requests in `opened`, or may have opened them.
    case requestsSent([RequestName], opened: [RequestName])
    /// Items of the feed are missing.
    case itemsMissed
    /// The client has waited long enough for notices of the ends of requests.
    ///
    /// A notice that has not come yet will not come, because the server no longer has it.
    case noticesDue
    /// This time has passed since the last tick of the timer that increases the displayed duration.
    case elapsed(Milliseconds)
    /// The app's media engine has measured these statistics.
    case mediaMeasured([AVStatistics])
}
