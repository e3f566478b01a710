// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What the first phase decided about one input: the command for the leases, and what the second phase needs.
package struct AudienceStep: Hashable, Sendable {
    /// What the second phase does with the input.
    package enum Verdict: Hashable, Sendable {
        /// Carries it out with the command's result.
        case act
        /// Answers it as it was answered before, or in an earlier step of the same batch (I15).
        case repeated
        /// Refuses it.
        case refused(ReplyError)
        /// It has nothing to say any more.
        case ignored
    }

    package var moment: Moment
    /// Nil: a tick.
    package var input: AudienceInput?
    package var verdict: Verdict
    /// The feed epoch of the live that the input found running.
    package var epoch: Int64?
    package var command: LeaseCommand?

    package init(
        _ moment: Moment, _ input: AudienceInput?, _ verdict: Verdict, epoch: Int64? = nil,
        command: LeaseCommand? = nil
    ) {
        self.moment = moment
        self.input = input
        self.verdict = verdict
        self.epoch = epoch
        self.command = command
    }
}

extension AudienceCommand {
    /// The caller to answer, if the command is a call.
    package var caller: Caller? {
        switch self {
        case .join(let caller), .leave(let caller), .kick(_, _, let caller), .list(_, _, let caller),
            .vouchAdmin(_, let caller), .vouchGuest(_, _, let caller), .profile(let caller):
            caller
        case .opened, .ended, .heartbeats, .assert, .confirm, .banned, .unbanned, .announceMute, .rights, .signOff: nil
        }
    }

    /// Whether a call changes something, so that its outcome is kept for its sender's retries.
    var isKept: Bool {
        switch self {
        case .join, .leave, .kick, .profile: true
        case .opened, .ended, .heartbeats, .assert, .list, .vouchAdmin, .vouchGuest, .confirm, .banned, .unbanned,
            .announceMute, .rights, .signOff:
            false
        }
    }

    /// Whether leaving it out would leave the leases wrong for longer than a heartbeat, or somebody without an answer.
    var needsLeases: Bool {
        switch self {
        case .join, .leave, .kick, .assert, .ended, .banned, .signOff, .confirm: true
        case .opened, .heartbeats, .list, .vouchAdmin, .vouchGuest, .unbanned, .announceMute, .rights, .profile: false
        }
    }
}
