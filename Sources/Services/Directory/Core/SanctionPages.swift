// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// A kind of sanction (a ban or a mute of a user); a live has one list of each kind.
enum SanctionKind {
    case bans
    case mutes

    /// The key of a page of a live's list.
    func key(of live: LiveKey, page: Int) -> DirectoryKey {
        switch self {
        case .bans: .bans(live, page: page)
        case .mutes: .mutes(live, page: page)
        }
    }
}

/// Access to a live's lists of bans and mutes.
///
/// A list is stored in several rows, its pages, because one row with all entries could exceed the broker's limit for a
/// record (R17.6). The pages of a list are numbered without gaps, and the last page is not empty. Most lists have one
/// page and are read with two look-ups: one finds the page, the other finds that there is no second page.
extension DirectoryRows {
    /// A live's bans or mutes.
    func sanctions(_ kind: SanctionKind, of live: LiveKey) -> SanctionList {
        SanctionList(pages: self.pages(kind, of: live))
    }

    /// Stores a live's bans or mutes; the caller has checked that the list is within the limit.
    ///
    /// Old entries stay on their pages, so that only the changed pages are written (see `PagedList`).
    mutating func store(_ list: SanctionList, _ kind: SanctionKind, of live: LiveKey) {
        let capacity = SanctionLimits.perRow
        if list.entries.count <= capacity, self[kind.key(of: live, page: 1)] == nil {
            self[kind.key(of: live, page: 0)] = list.entries.isEmpty ? nil : .sanctions(list: list)
            return
        }
        var oldPages = self.pages(kind, of: live).map(\.entries)
        // Empty pages are added for new entries. One more page than before is needed if the last page is full, because
        // new entries do not go to earlier pages, even if these have room.
        let wantedPages = max(oldPages.count + 1, (list.entries.count + capacity - 1) / capacity)
        while oldPages.count < min(wantedPages, SanctionLimits.rowsPerList) { oldPages.append([]) }
        let pages = PagedList.pages(of: list.entries, replacing: oldPages, capacity: capacity, id: { $0.user })
        for (pageNumber, entries) in pages.enumerated() where entries != oldPages[pageNumber] {
            self[kind.key(of: live, page: pageNumber)] = .sanctions(list: SanctionList(page: entries))
        }
        self.removeTrailingEmptyPages(kind, of: live, lastPage: pages.count - 1)
    }

    /// Stores what is left of a page: `remaining`, the entries of the page that have not expired.
    mutating func removeExpired(fromPage key: DirectoryKey, keeping remaining: SanctionList) {
        self[key] = .sanctions(list: remaining)
        guard let (kind, live, page) = key.sanctionPage else { return }
        // Older versions stored all entries in one row; such a list is split now.
        if remaining.entries.count > SanctionLimits.perRow {
            self.store(self.sanctions(kind, of: live), kind, of: live)
        }
        if remaining.entries.isEmpty, self[kind.key(of: live, page: page + 1)] == nil {
            self.removeTrailingEmptyPages(kind, of: live, lastPage: page)
        }
    }

    /// Removes a live's bans and mutes.
    mutating func removeSanctions(of live: LiveKey) {
        for kind in [SanctionKind.bans, .mutes] {
            for page in self.pages(kind, of: live).indices { self[kind.key(of: live, page: page)] = nil }
        }
    }

    /// Removes the empty pages at the end of a list; `lastPage` is the number of the last page that may exist.
    private mutating func removeTrailingEmptyPages(_ kind: SanctionKind, of live: LiveKey, lastPage: Int) {
        for page in stride(from: lastPage, through: 0, by: -1) {
            let key = kind.key(of: live, page: page)
            guard let row = self[key] else { continue }
            guard case .sanctions(let list) = row, list.entries.isEmpty else { return }
            self[key] = nil
        }
    }

    /// The stored pages of a list, in order.
    private func pages(_ kind: SanctionKind, of live: LiveKey) -> [SanctionList] {
        var pages: [SanctionList] = []
        while pages.count < SanctionLimits.rowsPerList,
            case .sanctions(let page)? = self[kind.key(of: live, page: pages.count)]
        {
            pages.append(page)
        }
        return pages
    }
}

extension DirectoryKey {
    /// The list, the live and the number of a page; nil for other keys.
    var sanctionPage: (kind: SanctionKind, live: LiveKey, page: Int)? {
        switch self {
        case .bans(let live, let page): (.bans, live, page)
        case .mutes(let live, let page): (.mutes, live, page)
        case .live, .claim, .liveCalls, .ownerCalls, .app, .appCalls: nil
        }
    }
}
