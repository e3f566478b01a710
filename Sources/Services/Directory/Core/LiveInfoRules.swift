// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The valid values of a live's fields (R3.10, R3.11, R17.4, R17.5).
enum LiveInfoRules {
    /// Sets the fields that the request contains.
    ///
    /// - Throws: `badRoomName`, `tooManyTags` or `badParameter`; `wrongRoomKind` for a change between voice and video.
    ///   After an error the caller must discard `info`.
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
            try self.checkURL(url, "coverURL")
            info.coverURL = url
        }
        if let url = changes.backgroundURL {
            try self.checkURL(url, "backgroundURL")
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

    private static func checkURL(_ url: String, _ field: String) throws(ReplyError) {
        guard TextRule.isPlain(url, maxBytes: Limits.urlBytes) else {
            throw .notPlain(field, maxBytes: Limits.urlBytes)
        }
    }
}
