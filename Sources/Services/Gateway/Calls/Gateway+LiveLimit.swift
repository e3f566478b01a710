// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// The limit of lives that an app may have.
extension Gateway {
    /// If a call creates a live, checks that its app may have another one (R12.21).
    ///
    /// The tables (this gateway's read model) lag behind the directory, which creates lives. So an app can exceed the
    /// limit by the creates of this short time.
    ///
    /// - Throws: `overloaded`, because the same call is possible later.
    func checkLiveCount(for effect: Effect) throws(ReplyError) {
        guard case .directory(let input, key: _) = effect,
            case .create(live: let live, changes: _, owner: _, caller: _) = input.command
        else { return }
        let (key, limit) = (LiveKey(input.app, live), self.settings.admission.livesPerApp)
        // A create of a running live adds no live: its owner comes back, or an earlier call is repeated.
        let exceedsLimit = self.tables.read { $0.liveCount(of: key.app) >= limit && $0.running(key) == nil }
        guard exceedsLimit else { return }
        self.metrics.refused(.livesPerApp)
        throw ReplyError(.overloaded, "the app has too many lives", retryAfter: 5000)
    }
}
