// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

extension PlazaEngine {
    /// Asks the token provider.
    func fetchToken() {
        guard let connection = self.connection, let provider = connection.tokenProvider else { return }
        let fetchNumber = connection.tokenFetchCount + 1
        self.connection?.tokenFetchCount = fetchNumber
        // An earlier request without an answer is cancelled, so that at most one request waits for the provider.
        connection.tokenFetch?.cancel()
        self.connection?.tokenFetch = self.task { engine in
            let token: Result<String, any Error>
            do { token = .success(try await provider()) } catch { token = .failure(error) }
            guard engine.connection?.number == connection.number else { return }
            // The failure of an earlier request does not matter, because a later one may still succeed.
            if case .failure = token, engine.connection?.tokenFetchCount != fetchNumber { return }
            engine.tokenFetched(token)
        }
    }

    private func tokenFetched(_ token: Result<String, any Error>) {
        switch token {
        case .success(let text) where !text.isEmpty:
            let tokenValue = TokenValue(text, at: self.serverTime)
            self.updateCore { core, now in core.tokenFetched(tokenValue, at: now) }
        case .success: self.tokenFailed(ErrorInfo(.failed, "the token provider gave no token"))
        case .failure(let error as ErrorInfo): self.tokenFailed(error)
        case .failure(let error): self.tokenFailed(ErrorInfo(.failed, "the token provider failed: \(error)"))
        }
    }

    private func tokenFailed(_ error: ErrorInfo) {
        self.report(error)
        // Without a token, a waiting login ends with the provider's own error.
        if self.waitingLogin != nil {
            self.finishLogin(.failure(error))
            return self.disconnect()
        }
        self.updateCore { core, now in core.tokenFailed(at: now) }
    }
}
