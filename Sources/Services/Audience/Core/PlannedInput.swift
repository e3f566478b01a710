// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One input with the decision of the first phase of a batch (`AudienceMachine.plan`), its lease request, and the data
/// that the second phase needs.
package struct PlannedInput: Hashable, Sendable {
    /// How the second phase handles the input.
    package enum Decision: Hashable, Sendable {
        /// Handles the input with the result of its request.
        case proceed
        /// Answers a repeated call with the reply to its first copy, which may be in the same batch (I15 in
        /// docs/RULES.md).
        case repeated
        /// Rejects the input.
        case rejected(ReplyError)
        /// Drops the input, because it is obsolete or cannot be decided now.
        case ignored
    }

    package var moment: Moment
    /// The decoded record of the inbox; nil for a tick, an empty record that advances the partition's time.
    package var input: AudienceInput?
    package var decision: Decision
    /// The feed epoch of the live that was running when the input was planned; nil when no live was running.
    package var epoch: Int64?
    /// The lease request; nil when the input needs none.
    package var request: LeaseRequest?

    package init(
        _ moment: Moment, _ input: AudienceInput?, _ decision: Decision, epoch: Int64? = nil,
        request: LeaseRequest? = nil
    ) {
        self.moment = moment
        self.input = input
        self.decision = decision
        self.epoch = epoch
        self.request = request
    }
}
