// SPDX-License-Identifier: Apache-2.0

/// An input of the second phase of a batch: a change of the availability of the leases, or the result of a request.
///
/// In the first phase, `AudienceMachine.plan` has turned the inputs of the batch into lease requests.
package enum AudienceEvent: Hashable, Sendable {
    /// Redis cannot be reached, so `batch` is handled without the leases.
    ///
    /// `mayHaveRun`: Redis may have executed the requests of the batch.
    case leasesUnavailable(batch: [PlannedInput], mayHaveRun: Bool)
    /// Redis is reachable again with the same leases, and no change was decided without them.
    case leasesRecovered
    /// A new epoch of the leases began, without any lease (I5 in docs/RULES.md).
    ///
    /// `name` is unique among the epochs of the partition. `wasEmpty`: the partition had no sessions before, so the
    /// epoch settles at once.
    case leaseEpochBegan(name: String, wasEmpty: Bool)
    /// The result of one input's request; `.nothing` for an input without a request.
    case leasesAnswered(PlannedInput, LeaseResult)
}
