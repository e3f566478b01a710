// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A walk through the pages of a live's mutes, which are in the order of the users' ids.
///
/// When a mute ends during the walk, the later mutes move forward, so the walk could miss a mute between two pages.
/// Therefore each page begins with the last mute of the page before. If a page begins with a later mute, the walk goes
/// back.
struct MuteWalk: Sendable {
    static let mutesPerPage = 100

    /// The mutes so far, as one page, with the time of the first page: it may lack changes after this time.
    private(set) var mutes = SanctionPage(items: [], nextOffset: 0)
    /// The offset of the page to read next; nil at the end of the walk.
    private(set) var offset: Int? = 0
    /// The offset at which the last page ended.
    private var end = 0
    /// How many mutes before `end`, the end of the last page, the next page begins.
    private var overlap = 1
    /// The maximum number of further pages.
    ///
    /// The number is limited, so that the walk ends even if the list changes all the time.
    private var pagesLeft: Int
    private let maxCount: Int

    /// Begins a walk that returns at most `maxCount` mutes.
    init(maxCount: Int) {
        self.maxCount = maxCount
        self.pagesLeft = 2 * maxCount / Self.mutesPerPage + 5
    }

    /// Adds the page at `offset`, and decides which page follows.
    mutating func received(_ page: SanctionPage) {
        guard let offset = self.offset else { return }
        self.pagesLeft -= 1
        let last = self.mutes.items.last?.user
        if offset == 0, last == nil { self.mutes.at = page.at }
        // Each page also has this user's own mute, although only one page lists it.
        self.mutes.own = page.own
        if let last, offset > 0, page.items.first.map({ $0.user > last }) ?? true, self.pagesLeft > 0 {
            self.overlap *= 10
            self.offset = max(0, self.end - self.overlap)
            return
        }
        self.mutes.items += page.items.filter { mute in last.map { mute.user > $0 } ?? true }
        self.mutes.items.removeLast(max(0, self.mutes.items.count - self.maxCount))
        (self.end, self.overlap) = (page.nextOffset, 1)
        let isOver = self.end == 0 || self.end >= self.maxCount || self.pagesLeft == 0
        self.offset = isOver ? nil : self.end - self.overlap
    }
}
