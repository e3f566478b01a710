// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The defaults of a new live: status, seat mode, seat template and name (R3.11, R3.15).
enum NewLiveDefaults {
    /// The info of a new live: the fields that the request contains, and defaults for the other fields.
    ///
    /// - Throws: as `LiveInfoRules.apply` does.
    static func info(
        for request: CreateRequest, _ policy: AppPolicy, at now: Timestamp
    ) throws(ReplyError) -> LiveInfo {
        var info = LiveInfo(liveID: request.key.live, liveOwner: request.owner, createTime: now)
        if request.caller.role == .server {
            info.status = .scheduled
            // The app's default for the lives that its server creates.
            info.seatMode = policy.seatModeOfServer
        }
        // `apply` rejects a change between voice and video. A new live may be of either kind, so the template is set
        // before the call of `apply`.
        info.seatTemplate = SeatTemplate.resolved(request.changes.seatTemplate ?? info.seatTemplate).id
        try LiveInfoRules.apply(request.changes, to: &info, policy)
        if info.liveName.isEmpty { info.liveName = info.liveID.text }
        return info
    }
}
