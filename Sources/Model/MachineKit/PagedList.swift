// SPDX-License-Identifier: Apache-2.0

/// Splits a list over a fixed number of rows, its pages, so that no row grows with the list.
///
/// A change rewrites only the pages that it touches. A list that was stored as one long page, as older versions did, is
/// split at its next change.
package enum PagedList {
    /// Distributes a list over pages.
    ///
    /// Elements stay on their page; new ones go to the last page in use or, when it is full, to the next. When there is
    /// no next page, or a page is too long, all pages are filled again.
    ///
    /// - Parameters:
    ///   - elements: the whole list; at most `capacity` times the number of pages.
    ///   - before: the pages as they are stored, empty ones too. Together they determine the number of pages.
    ///   - capacity: the maximum number of elements of a page.
    ///   - id: identifies an element; the list contains each id once.
    /// - Returns: the pages, as many as before. In order, they contain the elements in the list's order if they did so
    ///   before and new elements are at its end.
    package static func pages<Element, ID: Hashable>(
        of elements: [Element], before: [[Element]], capacity: Int, id: (Element) -> ID
    ) -> [[Element]] {
        var pageOfID: [ID: Int] = [:]
        for (page, elements) in before.enumerated() {
            for element in elements { pageOfID[id(element)] = page }
        }
        var pages = [[Element]](repeating: [], count: before.count)
        var new: [Element] = []
        for element in elements {
            if let page = pageOfID[id(element)] { pages[page].append(element) } else { new.append(element) }
        }
        var last = pages.lastIndex { !$0.isEmpty } ?? 0
        for element in new {
            if pages[last].count >= capacity, last + 1 < pages.count { last += 1 }
            pages[last].append(element)
        }
        guard pages.contains(where: { $0.count > capacity }) else { return pages }
        return pages.indices.map { page in
            let rest = elements.dropFirst(page * capacity)
            return Array(page + 1 < pages.count ? rest.prefix(capacity) : rest)
        }
    }
}
