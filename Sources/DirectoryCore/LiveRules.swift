// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What a live's fields may hold (reference 3.2 and 9).
enum LiveRules {
    /// The info of a new live: the fields that the request names, and defaults.
    static func newInfo(
        _ request: CreateRequest, _ policy: AppPolicy, at now: Timestamp
    ) throws(ReplyError) -> LiveInfo {
        var info = LiveInfo(liveID: request.key.live, liveOwner: request.owner, createTime: now)
        if request.caller.role == .server {
            info.status = .scheduled
            info.seatMode = policy.seatModeOfServer
        }
        // A new live may be of either kind; a running one keeps its kind.
        info.seatTemplate = SeatTemplate.resolved(request.changes.seatTemplate ?? info.seatTemplate).id
        try self.apply(request.changes, to: &info, policy)
        if info.liveName.isEmpty { info.liveName = info.liveID.text }
        return info
    }

    /// Sets the named fields.
    ///
    /// - Throws: `badRoomName`, `tooManyTags`, `wrongRoomKind` or `badParameter`; then `info` is not to be used.
    static func apply(_ changes: LiveChanges, to info: inout LiveInfo, _ policy: AppPolicy) throws(ReplyError) {
        if let name = changes.liveName {
            guard name.utf8.count <= Limits.liveNameBytes, name.utf8.allSatisfy({ $0 >= 0x20 }) else {
                throw ReplyError(
                    .badRoomName,
                    "liveName has \(name.utf8.count) bytes; at most \(Limits.liveNameBytes) are possible, and no control "
                        + "characters")
            }
            info.liveName = name.isEmpty ? info.liveID.text : name
        }
        if let notice = changes.notice {
            try self.check(notice, "notice", Limits.noticeBytes)
            info.notice = notice
        }
        if let url = changes.coverURL {
            try self.check(url, "coverURL", Limits.urlBytes)
            info.coverURL = url
        }
        if let url = changes.backgroundURL {
            try self.check(url, "backgroundURL", Limits.urlBytes)
            info.backgroundURL = url
        }
        if let categories = changes.categoryList {
            guard categories.count <= Limits.categories else {
                throw ReplyError(
                    .tooManyTags, "categoryList has \(categories.count) numbers; \(Limits.categories) at most")
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

    /// Seats: a video template fixes their number and keeps the owner on one; a voice live chooses both.
    private static func applySeats(_ changes: LiveChanges, to info: inout LiveInfo) throws(ReplyError) {
        let named = changes.seatTemplate ?? info.seatTemplate
        guard Limits.templates.contains(named) else {
            throw ReplyError(.badParameter, "seatTemplate is \(named); 1 to 199 are for voice, 200 to 999 for video")
        }
        let wasVoice = info.isVoice
        // An unknown one is 600 (reference 9).
        let template = SeatTemplate.resolved(named)
        info.seatTemplate = template.id
        guard info.isVoice == wasVoice else {
            throw ReplyError(
                .wrongRoomKind,
                "seatTemplate \(named) is laid out as \(template.id), which is for \(wasVoice ? "video" : "voice"): "
                    + "a live stays what it was created as")
        }
        // Where the template fixes the number, any that a live may have is taken for it: older clients always name one.
        let possible = template.fixesSeatCount ? 0...Limits.seatCount : template.seats
        if let count = changes.maxSeatCount, !possible.contains(count) {
            throw ReplyError(
                .badParameter,
                "maxSeatCount is \(count); template \(template.id) takes \(possible.lowerBound) to "
                    + "\(possible.upperBound)")
        }
        info.maxSeatCount = template.seatCount(wanted: changes.maxSeatCount ?? info.maxSeatCount)
        info.keepOwnerOnSeat = info.isVoice ? changes.keepOwnerOnSeat ?? info.keepOwnerOnSeat : true
    }

    private static func check(_ text: String, _ field: String, _ limit: Int) throws(ReplyError) {
        guard text.utf8.count <= limit else { throw ReplyError(.badParameter, "\(field) has at most \(limit) bytes") }
    }
}
