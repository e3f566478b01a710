// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

extension SeatRequests {
    /// The maximum number of pages, each one row, over which the requests of a live are split.
    static let maxPageCount = Limits.openSeatRequests / Limits.seatRequestsPerRow
}

/// The open requests of a live are split into pages, each one row, because a single row could exceed the broker's
/// maximum record size (R17.6).
///
/// The first page exists whenever there are requests, and stores the number of pages. Every input reads the requests,
/// and most lives have none, so usually one look-up is enough.
extension Journal where Key == SeatKey, Row == SeatRow {
    /// The open requests of a live, from all pages.
    func requests(_ live: LiveKey) -> SeatRequests {
        guard let firstPage = self.page(live, 0) else { return SeatRequests() }
        guard let pageCount = firstPage.pageCount else { return firstPage }
        // The limits are for a damaged row, which may contain any number.
        let otherPages = 1..<max(1, min(pageCount, SeatRequests.maxPageCount))
        return SeatRequests(firstPage.open + otherPages.flatMap { self.page(live, $0)?.open ?? [] })
    }

    /// Stores the open requests of a live; there must be at most `Limits.openSeatRequests`.
    mutating func store(_ requests: SeatRequests, of live: LiveKey) {
        let firstPage = self.page(live, 0)
        if requests.open.count <= Limits.seatRequestsPerRow, firstPage?.pageCount == nil {
            self[.requests(live)] = requests.open.isEmpty ? nil : .requests(requests: requests)
            return
        }
        // A guest has at most one open application, and at most one open invitation of each host. So guest and host
        // identify a request.
        let storedPages = (0..<SeatRequests.maxPageCount).map { self.page(live, $0)?.open ?? [] }
        let pages = PagedList.pages(
            of: requests.open, replacing: storedPages, capacity: Limits.seatRequestsPerRow,
            id: { "\($0.guest.userID.text)/\($0.host?.userID.text ?? "")" })
        let usedPageCount = (pages.lastIndex { !$0.isEmpty } ?? -1) + 1
        for (index, pageRequests) in pages.enumerated() {
            let isNeeded = index == 0 ? usedPageCount > 0 : !pageRequests.isEmpty
            let page = SeatRequests(pageRequests, pageCount: index == 0 && usedPageCount > 1 ? usedPageCount : nil)
            self[.requests(live, page: index)] = isNeeded ? .requests(requests: page) : nil
        }
    }

    /// Removes all open requests of a live.
    mutating func removeRequests(of live: LiveKey) { self.store(SeatRequests(), of: live) }

    /// The stored page with the number `number`; nil when there is none.
    private func page(_ live: LiveKey, _ number: Int) -> SeatRequests? {
        if case .requests(let requests)? = self[.requests(live, page: number)] { requests } else { nil }
    }
}
