// SPDX-License-Identifier: Apache-2.0

/// Splits a list over a fixed number of rows, its pages, so that no row grows with the list.
///
/// A change rewrites only the pages that it touches. A list that was stored as one long page, as older versions did, is
/// split at its next change.
package enum PagedList {
    /// Distributes a list over pages.
    ///
    /// Elements stay on their page. A new element goes to the last page in use or, when that page is full, to the page
    /// after it. When there is no such page, or a stored page is too long, all pages are filled again from the first.
    ///
    /// - Parameters:
    ///   - elements: the whole list. Elements that do not fit on the pages make the last page too long.
    ///   - storedPages: the pages before the change, including empty ones. Their number is the number of pages.
    ///   - capacity: the maximum number of elements of a page.
    ///   - id: identifies an element; the list contains each id once.
    /// - Returns: the pages, as many as `storedPages`. Read one after the other, they have the order of the list,
    ///   provided that the stored pages had it and that the new elements are at the end of the list.
    package static func pages<Element, ID: Hashable>(
        of elements: [Element], replacing storedPages: [[Element]], capacity: Int, id: (Element) -> ID
    ) -> [[Element]] {
        var pageOfID: [ID: Int] = [:]
        for (page, storedElements) in storedPages.enumerated() {
            for element in storedElements { pageOfID[id(element)] = page }
        }
        var pages = [[Element]](repeating: [], count: storedPages.count)
        var newElements: [Element] = []
        for element in elements {
            if let page = pageOfID[id(element)] { pages[page].append(element) } else { newElements.append(element) }
        }
        var lastUsedPage = pages.lastIndex { !$0.isEmpty } ?? 0
        for element in newElements {
            if pages[lastUsedPage].count >= capacity, lastUsedPage + 1 < pages.count { lastUsedPage += 1 }
            pages[lastUsedPage].append(element)
        }
        guard pages.contains(where: { $0.count > capacity }) else { return pages }
        return pages.indices.map { page in
            let remaining = elements.dropFirst(page * capacity)
            return Array(page + 1 < pages.count ? remaining.prefix(capacity) : remaining)
        }
    }
}
