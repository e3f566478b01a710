// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The parameters of a page of the list of lives, besides the cursor.
struct LiveListQuery: Sendable {
    /// The number of lives on a page.
    var count: Int
    /// The category of the lives; nil for all lives.
    var category: Int?
    /// Whether the lives with the most joins come first; nil for the server's order.
    var isDescending: Bool?

    func params(_ cursor: String) -> [String: JSONValue] {
        var params: [String: JSONValue] = ["count": .whole(self.count)]
        if !cursor.isEmpty { params["cursor"] = .text(cursor) }
        if let category { params["category"] = .whole(category) }
        if let isDescending { params["order"] = .text(isDescending ? "descending" : "ascending") }
        return params
    }
}

extension LiveListStore {
    /// The maximum number of times that reading begins again because the cursor has expired (R3.64).
    private static let maxRestarts = 3
    /// The maximum number of times that one page is read again because the client reads too often (R12.8).
    private static let maxRateLimitWaits = 5
    /// The pause before a page is read again, if the server does not state a pause.
    private static let defaultRateLimitWait = Duration.seconds(1)

    /// The operation that reads a page and shows it in the list.
    ///
    /// If the cursor has expired, pages are read from the beginning of the list until they have more lives than the
    /// list had before. This may take many reads, so the client waits when the server rejects one as too frequent.
    func fetchOperation(_ cursor: String, _ query: LiveListQuery) -> StoreOperation<Void> {
        return { engine async throws(ErrorInfo) in
            // This list must not replace a list that is begun later, for example the list of another category.
            let listNumber = self.listNumber.withLock { number in
                if cursor.isEmpty { number += 1 }
                return number
            }
            for restarts in 0... {
                do throws(ErrorInfo) {
                    if restarts == 0 { return try await self.fetchPage(cursor, query, ofList: listNumber, engine) }
                    return try await self.fetchFromBeginning(query, ofList: listNumber, engine)
                } catch {
                    if error.code != ReplyCode.cursorExpired.code || restarts >= Self.maxRestarts { throw error }
                }
            }
        }
    }

    /// Reads a page, and shows it instead of the list if it is the first page, otherwise behind the list.
    private func fetchPage(
        _ cursor: String, _ query: LiveListQuery, ofList listNumber: Int, _ engine: isolated PlazaEngine
    ) async throws(ErrorInfo) {
        let shownCursor = self.state.value.liveListCursor
        let page = try await self.readPage(cursor, query, engine)
        // If the list was replaced meanwhile, for example by the list of another category, the page is of no use.
        guard cursor.isEmpty || shownCursor == self.state.value.liveListCursor else { return }
        let list = Self.merged(cursor.isEmpty ? [] : self.state.value.liveList, page.lives)
        self.show(list, page.cursor, ofList: listNumber)
    }

    /// Reads pages from the beginning, and shows them once they have more lives than the list had before.
    private func fetchFromBeginning(
        _ query: LiveListQuery, ofList listNumber: Int, _ engine: isolated PlazaEngine
    ) async throws(ErrorInfo) {
        let shownCount = self.state.value.liveList.count
        var lives: [LiveInfo] = []
        var cursor = ""
        repeat {
            let page = try await self.readPageWithinRateLimit(cursor, query, engine)
            lives = Self.merged(lives, page.lives)
            cursor = page.cursor
        } while !cursor.isEmpty && lives.count <= shownCount
        self.show(lives, cursor, ofList: listNumber)
    }

    /// Reads a page; waits and reads it again if the client has read too often.
    private func readPageWithinRateLimit(
        _ cursor: String, _ query: LiveListQuery, _ engine: isolated PlazaEngine
    ) async throws(ErrorInfo) -> (lives: [LiveInfo], cursor: String) {
        var waits = 0
        while true {
            do throws(ErrorInfo) {
                return try await self.readPage(cursor, query, engine)
            } catch {
                if error.code != ReplyCode.tooFrequent.code || waits >= Self.maxRateLimitWaits { throw error }
                waits += 1
                await engine.sleep(for: error.retryAfter ?? Self.defaultRateLimitWait)
            }
        }
    }

    private func readPage(
        _ cursor: String, _ query: LiveListQuery, _ engine: isolated PlazaEngine
    ) async throws(ErrorInfo) -> (lives: [LiveInfo], cursor: String) {
        let params = query.params(cursor)
        guard case .lives(let entries, let nextCursor) = try await engine.call("live.list", params, live: nil) else {
            throw .wrongResultKind
        }
        return (entries.map { LiveInfo($0.info, totalViewerCount: $0.totalViewerCount) }, nextCursor)
    }

    /// Shows a list, unless a later one was begun meanwhile.
    private func show(_ lives: [LiveInfo], _ cursor: String, ofList listNumber: Int) {
        guard listNumber == self.listNumber.withLock({ $0 }) else { return }
        var state = self.state.value
        // A page may be some seconds old. What the client knows of its current live is newer.
        let current = state.currentLive
        state.liveList = lives.map { $0.liveID == current.liveID && !current.isEmpty ? current : $0 }
        state.liveListCursor = cursor
        self.state.value = state
    }

    /// A list followed by a page, with each live only once.
    private static func merged(_ list: [LiveInfo], _ page: [LiveInfo]) -> [LiveInfo] {
        let listedIDs = Set(list.map(\.liveID))
        return list + page.filter { !listedIDs.contains($0.liveID) }
    }
}
