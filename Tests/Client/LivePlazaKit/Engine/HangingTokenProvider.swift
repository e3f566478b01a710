// SPDX-License-Identifier: Apache-2.0

@testable import LivePlazaKit

/// A token provider whose second request gets no answer until the test gives one.
final class HangingTokenProvider: Sendable {
    private let firstToken: String
    private let laterToken: String
    private let state = Locked((requestCount: 0, caller: CheckedContinuation<Void, Never>?.none))

    /// `firstToken` answers the first request, and `laterToken` all others.
    init(firstToken: String, laterToken: String) {
        self.firstToken = firstToken
        self.laterToken = laterToken
    }

    var requestCount: Int { self.state.withLock { $0.requestCount } }

    @Sendable func token() async -> String {
        let number = self.state.withLock { state in
            state.requestCount += 1
            return state.requestCount
        }
        if number == 2 { await withCheckedContinuation { caller in self.state.withLock { $0.caller = caller } } }
        return number == 1 ? self.firstToken : self.laterToken
    }

    /// Answers the second request, because a continuation must be resumed.
    func answer() { self.state.withLock { $0.caller }?.resume() }
}
