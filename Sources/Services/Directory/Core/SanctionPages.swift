// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The two lists of a live that are stored in pages.
enum SanctionKind {
    case bans
    case mutes

    /// The keys of all pages of a live's list.
    func keys(of live: LiveKey) -> [DirectoryKey] {
        (0..<SanctionLimits.rows).map { page in
            switch self {
            case .bans: .bans(live, page: page)
            case .mutes: .mutes(live, page: page)
            }
        }
    }
}

/// A live's bans and mutes are split over rows, because one row of them would exceed what a broker takes (R17.6).
extension DirectoryRows {
    /// A live's bans or mutes.
    func sanctions(_ kind: SanctionKind, of live: LiveKey) -> SanctionList {
        SanctionList(pages: self.pages(kind.keys(of: live)).filter { !$0.entries.isEmpty })
    }

    /// Stores a live's bans or mutes, which are within the limit.
    mutating func store(_ list: SanctionList, _ kind: SanctionKind, of live: LiveKey) {
        let keys = kind.keys(of: live)
        let pages = PagedList.pages(
            of: list.entries, before: self.pages(keys).map(\.entries), capacity: SanctionLimits.perRow
        ) { $0.user }
        for (key, entries) in zip(keys, pages) {
            self[key] = entries.isEmpty ? nil : .sanctions(list: SanctionList(page: entries))
        }
    }

    /// Splits the one row of an older version; `page` is what the row `key` contains.
    mutating func splitIfLong(_ page: SanctionList, _ key: DirectoryKey) {
        guard page.entries.count > SanctionLimits.perRow else { return }
        switch key {
        case .bans(let live, _): self.store(self.sanctions(.bans, of: live), .bans, of: live)
        case .mutes(let live, _): self.store(self.sanctions(.mutes, of: live), .mutes, of: live)
        default: break
        }
    }

    /// Removes a live's bans and mutes.
    mutating func removeSanctions(of live: LiveKey) {
        for key in SanctionKind.bans.keys(of: live) + SanctionKind.mutes.keys(of: live) { self[key] = nil }
    }

    private func pages(_ keys: [DirectoryKey]) -> [SanctionList] {
        keys.map { key in
            if case .sanctions(let page)? = self[key] { page } else { SanctionList() }
        }
    }
}
