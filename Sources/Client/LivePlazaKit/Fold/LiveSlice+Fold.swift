// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension LiveSlice {
    /// Applies an input to the part of the live's state that several stores need: the live's info.
    mutating func reduce(_ input: FoldInput) {
        switch input {
        case .snapshot(.details(let details)):
            self.info.totalViewerCount = details.audience.totalViewers
            // A gateway may answer with an info that is older than a change in its feed, which is not sent again.
            if let revision = details.revision, let shownRevision = self.revision, revision < shownRevision { return }
            self.info = LiveInfo(details.info, totalViewerCount: details.audience.totalViewers)
            self.revision = details.revision
        case .counts(let counts): self.info.totalViewerCount = counts.totalViewers
        case .item(let entry): self.reduce(entry.content)
        default: break
        }
    }

    private mutating func reduce(_ content: FeedContent) {
        switch content {
        case .infoChanged(let info, let revision):
            guard self.advance(to: revision) else { return }
            self.info = LiveInfo(info, totalViewerCount: self.info.totalViewerCount)
        case .metadataChanged(let set, let removed, let revision):
            guard self.advance(to: revision) else { return }
            self.info.metaData.merge(set) { _, new in new }
            for key in removed { self.info.metaData[key] = nil }
        case .adminSet(let user, let revision):
            guard self.advance(to: revision) else { return }
            if !self.info.admins.contains(user.text) { self.info.admins.append(user.text) }
        case .adminRevoked(let user, let revision):
            guard self.advance(to: revision) else { return }
            self.info.admins.removeAll { $0 == user.text }
        case .userChanged(let user):
            if user.userID.text == self.info.liveOwner.userID { self.info.liveOwner = LiveUserInfo(user) }
        default: break
        }
    }

    /// Advances the revision of the info to that of a change (R3.65).
    ///
    /// - Returns: whether the change is new. A change without a revision is from an earlier server and counts as new.
    private mutating func advance(to revision: Int64?) -> Bool {
        guard let revision else { return true }
        if let present = self.revision, revision <= present { return false }
        self.revision = revision
        return true
    }
}
