// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The two lists of a live that are stored in pages.
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

/// A live's bans and mutes are split over rows, because one row of them would exceed what a broker takes (R17.6).
///
/// The pages of a list are numbered without a gap, and the last one is not empty. So most lists are read with two
/// look-ups: the only page, and the next one, which does not exist.
extension DirectoryRows {
    /// A live's bans or mutes.
    func sanctions(_ kind: SanctionKind, of live: LiveKey) -> SanctionList {
        SanctionList(pages: self.pages(kind, of: live))
    }

    /// Stores a live's bans or mutes, which are within the limit.
    mutating func store(_ list: SanctionList, _ kind: SanctionKind, of live: LiveKey) {
        let capacity = SanctionLimits.perRow
        if list.entries.count <= capacity, self[kind.key(of: live, page: 1)] == nil {
            self[kind.key(of: live, page: 0)] = list.entries.isEmpty ? nil : .sanctions(list: list)
            return
        }
        var before = self.pages(kind, of: live).map(\.entries)
        let needed = max(before.count + 1, (list.entries.count + capacity - 1) / capacity)
        while before.count < min(needed, SanctionLimits.rows) { before.append([]) }
        let pages = PagedList.pages(of: list.entries, before: before, capacity: capacity) { $0.user }
        for (page, entries) in pages.enumerated() where entries != before[page] {
            self[kind.key(of: live, page: page)] = .sanctions(list: SanctionList(page: entries))
        }
        self.removeEmptyPages(kind, of: live, from: pages.count - 1)
    }

    /// Replaces a page by its remaining entries after some have expired.
    mutating func replacePage(_ list: SanctionList, _ key: DirectoryKey) {
        self[key] = .sanctions(list: list)
        guard let (kind, live, page) = key.sanctionPage else { return }
        // An older version wrote all entries into one row.
        if list.entries.count > SanctionLimits.perRow { self.store(self.sanctions(kind, of: live), kind, of: live) }
        if list.entries.isEmpty, self[kind.key(of: live, page: page + 1)] == nil {
            self.removeEmptyPages(kind, of: live, from: page)
        }
    }

    /// Removes a live's bans and mutes.
    mutating func removeSanctions(of live: LiveKey) {
        for kind in [SanctionKind.bans, .mutes] {
            for page in self.pages(kind, of: live).indices { self[kind.key(of: live, page: page)] = nil }
        }
    }

    /// Removes empty pages at the end of a list; `last` is the last page that may exist.
    private mutating func removeEmptyPages(_ kind: SanctionKind, of live: LiveKey, from last: Int) {
        for page in stride(from: last, through: 0, by: -1) {
            let key = kind.key(of: live, page: page)
            guard let row = self[key] else { continue }
            guard case .sanctions(let list) = row, list.entries.isEmpty else { return }
            self[key] = nil
        }
    }

    private func pages(_ kind: SanctionKind, of live: LiveKey) -> [SanctionList] {
        var pages: [SanctionList] = []
        while pages.count < SanctionLimits.rows,
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
