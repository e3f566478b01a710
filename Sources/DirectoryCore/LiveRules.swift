// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What a live's fields may hold (reference 3.2 and 9).
enum LiveRules {
    /// The info of a new live: the fields that the request names, and defaults.
    static func newInfo(_ request: CreateRequest, at now: Timestamp) throws(ReplyError) -> LiveInfo {
        var info = LiveInfo(liveID: request.key.live, liveOwner: request.owner, createTime: now)
        // A new live may be of either kind; a running one keeps its kind.
        info.seatTemplate = request.changes.seatTemplate ?? info.seatTemplate
        try self.apply(request.changes, to: &info)
        if info.liveName.isEmpty { info.liveName = info.liveID.text }
        return info
    }

    /// Sets the named fields.
    ///
    /// - Throws: `badRoomName` or `badParameter`; then `info` is not to be used.
    static func apply(_ changes: LiveChanges, to info: inout LiveInfo) throws(ReplyError) {
        if let name = changes.liveName {
            guard name.utf8.count <= Limits.liveNameBytes else {
                throw ReplyError(.badRoomName, "a live's name has at most \(Limits.liveNameBytes) bytes")
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
                throw ReplyError(.badParameter, "a live has at most \(Limits.categories) categories")
            }
            info.categoryList = categories
        }
        info.isMessageDisable = changes.isMessageDisable ?? info.isMessageDisable
        info.isPublicVisible = changes.isPublicVisible ?? info.isPublicVisible
        info.seatMode = changes.seatMode ?? info.seatMode
        info.activityStatus = changes.activityStatus ?? info.activityStatus
        info.isGiftEnabled = changes.isGiftEnabled ?? info.isGiftEnabled
        info.maxMemberCount = changes.maxMemberCount ?? info.maxMemberCount
        try self.applySeats(changes, to: &info)
    }

    /// Seats: a video template fixes their number and keeps the owner on one; a voice live chooses both.
    private static func applySeats(_ changes: LiveChanges, to info: inout LiveInfo) throws(ReplyError) {
        let template = changes.seatTemplate ?? info.seatTemplate
        guard (1...999).contains(template) else {
            throw ReplyError(.badParameter, "a seat template is 1 to 199 for voice, 200 to 999 for video")
        }
        let wasVoice = info.isVoice
        info.seatTemplate = template
        guard info.isVoice == wasVoice else {
            throw ReplyError(.badParameter, "a live stays voice or video as it was created")
        }
        let count = changes.maxSeatCount ?? info.maxSeatCount
        guard (1...Limits.seatCount).contains(count) else {
            throw ReplyError(.badParameter, "a live has 1 to \(Limits.seatCount) seats")
        }
        info.maxSeatCount = info.isVoice ? count : self.videoSeats(of: template)
        info.keepOwnerOnSeat = info.isVoice ? changes.keepOwnerOnSeat ?? info.keepOwnerOnSeat : true
    }

    /// How many seats a video template has (reference 9); an unknown one is laid out as 600.
    private static func videoSeats(of template: Int) -> Int {
        switch template {
        case 200: 4
        case 201, 604: 10
        case 400: 2
        case 601, 801: 7
        case 802: 12
        default: 9
        }
    }

    private static func check(_ text: String, _ field: String, _ limit: Int) throws(ReplyError) {
        guard text.utf8.count <= limit else { throw ReplyError(.badParameter, "\(field) has at most \(limit) bytes") }
    }
}
