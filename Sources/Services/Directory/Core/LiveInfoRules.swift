// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The valid values of a live's fields (R3.10, R3.11, R3.17, R17.4, R17.5).
enum LiveInfoRules {
    /// The info of a new live: the fields that the request contains, and defaults for the other fields.
    static func newInfo(
        _ request: CreateRequest, _ policy: AppPolicy, at now: Timestamp
    ) throws(ReplyError) -> LiveInfo {
        var info = LiveInfo(liveID: request.key.live, liveOwner: request.owner, createTime: now)
        if request.caller.role == .server {
            info.status = .scheduled
            info.seatMode = policy.seatModeOfServer
        }
        // A new live may be a voice or a video live; a running live keeps its kind.
        info.seatTemplate = SeatTemplate.resolved(request.changes.seatTemplate ?? info.seatTemplate).id
        try self.apply(request.changes, to: &info, policy)
        if info.liveName.isEmpty { info.liveName = info.liveID.text }
        return info
    }

    /// Sets the fields that the request contains.
    ///
    /// - Throws: `badRoomName`, `tooManyTags`, `wrongRoomKind` or `badParameter`. After an error the caller must
    ///   discard `info`.
    static func apply(_ changes: LiveChanges, to info: inout LiveInfo, _ policy: AppPolicy) throws(ReplyError) {
        if let name = changes.liveName {
            guard TextRule.isPlain(name, maxBytes: Limits.liveNameBytes) else {
                throw .notPlain("liveName", maxBytes: Limits.liveNameBytes, .badRoomName)
            }
            info.liveName = name.isEmpty ? info.liveID.text : name
        }
        if let notice = changes.notice {
            guard TextRule.isBounded(notice, maxBytes: Limits.noticeBytes) else {
                throw .tooLong("notice", maxBytes: Limits.noticeBytes)
            }
            info.notice = notice
        }
        if let url = changes.coverURL {
            try self.checkAddress(url, "coverURL")
            info.coverURL = url
        }
        if let url = changes.backgroundURL {
            try self.checkAddress(url, "backgroundURL")
            info.backgroundURL = url
        }
        if let categories = changes.categoryList {
            guard categories.count <= Limits.categories else {
                throw ReplyError(
                    .tooManyTags,
                    "categoryList has \(categories.count) numbers; at most \(Limits.categories) are possible")
            }
            info.categoryList = categories
        }
        if let count = changes.maxMemberCount {
            guard (0...policy.maxAudience).contains(count) else {
                throw ReplyError(.badParameter, "maxMemberCount is \(count); 0 to \(policy.maxAudience) are possible")
            }
            info.maxMemberCount = count
        }
        info.isMessageDisable = changes.isMessageDisable ?? info.isMessageDisable
        info.isPublicVisible = changes.isPublicVisible ?? info.isPublicVisible
        info.seatMode = changes.seatMode ?? info.seatMode
        info.activityStatus = changes.activityStatus ?? info.activityStatus
        info.isGiftEnabled = changes.isGiftEnabled ?? info.isGiftEnabled
        try self.applySeats(changes, to: &info)
    }

    /// Applies the seat fields.
    ///
    /// A video template fixes the number of seats and keeps the owner on a seat. A voice live may choose both.
    private static func applySeats(_ changes: LiveChanges, to info: inout LiveInfo) throws(ReplyError) {
        let requested = changes.seatTemplate ?? info.seatTemplate
        guard Limits.templates.contains(requested) else {
            throw ReplyError(
                .badParameter, "seatTemplate is \(requested); 1 to 199 are for voice, 200 to 999 for video")
        }
        let wasVoice = info.isVoice
        // Template 600 replaces an unknown template (R3.41).
        let template = SeatTemplate.resolved(requested)
        info.seatTemplate = template.id
        guard info.isVoice == wasVoice else {
            throw ReplyError(
                .wrongRoomKind,
                "seatTemplate \(requested) means template \(template.id), which is for \(wasVoice ? "video" : "voice") "
                    + "lives; a live cannot change between voice and video")
        }
        // A template with a fixed number of seats ignores the requested number, because older clients always send one.
        let possible = template.fixesSeatCount ? 0...Limits.seatCount : template.seats
        if let count = changes.maxSeatCount, !possible.contains(count) {
            throw ReplyError(
                .badParameter,
                "maxSeatCount is \(count); \(possible.lowerBound) to \(possible.upperBound) are possible in template "
                    + "\(template.id)")
        }
        info.maxSeatCount = template.seatCount(requested: changes.maxSeatCount ?? info.maxSeatCount)
        info.keepOwnerOnSeat = info.isVoice ? changes.keepOwnerOnSeat ?? info.keepOwnerOnSeat : true
    }

    private static func checkAddress(_ url: String, _ field: String) throws(ReplyError) {
        guard TextRule.isPlain(url, maxBytes: Limits.urlBytes) else {
            throw .notPlain(field, maxBytes: Limits.urlBytes)
        }
    }
}
