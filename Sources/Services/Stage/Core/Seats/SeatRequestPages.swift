// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

extension SeatRequests {
    /// The most rows over which the requests of a live are split.
    static let rows = Limits.openSeatRequests / Limits.seatRequestsPerRow
}

/// The open requests of a live are split over rows, because one row of them would exceed what a broker takes (R17.6).
///
/// The first page is there while there are requests. It says how many rows there are, because every input reads the
/// requests, and most lives have none.
extension Journal where Key == SeatKey, Row == SeatRow {
    /// The open requests of a live, from all pages.
    func requests(_ live: LiveKey) -> SeatRequests {
        guard let first = self.page(live, 0) else { return SeatRequests() }
        guard let pages = first.pages else { return first }
        let others = (1..<max(1, min(pages, SeatRequests.rows))).compactMap { self.page(live, $0)?.open }
        return SeatRequests(first.open + others.joined())
    }

    /// Stores the open requests of a live, which are within the limit.
    mutating func store(_ requests: SeatRequests, of live: LiveKey) {
        let first = self.page(live, 0)
        if requests.open.count <= Limits.seatRequestsPerRow, first?.pages == nil {
            self[.requests(live)] = requests.open.isEmpty ? nil : .requests(requests: requests)
            return
        }
        let before = (0..<SeatRequests.rows).map { self.page(live, $0)?.open ?? [] }
        let pages = PagedList.pages(
            of: requests.open, before: before, capacity: Limits.seatRequestsPerRow
        ) { "\($0.guest.userID.text)/\($0.host?.userID.text ?? "")" }
        let used = (pages.lastIndex { !$0.isEmpty } ?? -1) + 1
        for (index, open) in pages.enumerated() {
            let isNeeded = index == 0 ? used > 0 : !open.isEmpty
            let page = SeatRequests(open, pages: index == 0 && used > 1 ? used : nil)
            self[.requests(live, page: index)] = isNeeded ? .requests(requests: page) : nil
        }
    }

    /// Removes all open requests of a live.
    mutating func removeRequests(of live: LiveKey) { self.store(SeatRequests(), of: live) }

    private func page(_ live: LiveKey, _ page: Int) -> SeatRequests? {
        if case .requests(let requests)? = self[.requests(live, page: page)] { requests } else { nil }
    }
}
