// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// A part of a live's state, as a call has returned it.
enum Snapshot: Sendable {
    case details(LiveDetails)
    case audience(AudiencePage)
    case statistics(LiveStatistics, at: Timestamp?)
    case seatRequests(applications: [OpenApplication], invitations: [OpenInvitation], at: Timestamp?)
    /// The mutes as one page. (A sanction is a mute or a ban.)
    case mutes(SanctionPage)
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
        case .mutes(let page): page.at
        case .coHostRequests(_, _, let at), .battleRequests(_, _, let at): at
        case .details, .candidates, .gifts: nil
        }
    }

    /// Whether the time of the snapshot says that it contains the change of an input.
    func contains(_ input: FoldInput) -> Bool {
        guard let time = self.at, let inputTime = input.at else { return false }
        return inputTime <= time
    }
}
