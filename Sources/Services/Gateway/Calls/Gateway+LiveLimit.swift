// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// The limit of lives that an app may have.
extension Gateway {
    /// Checks that an app may have another live, if a call creates one (R12.21).
    ///
    /// The tables lag behind the directory, so an app can exceed the limit by the calls of that moment.
    ///
    /// - Throws: `overloaded`, because the same call is possible later.
    func checkLiveCount(for effect: Effect) throws(ReplyError) {
        guard case .directory(let input, _) = effect, case .create(let live, _, _, _) = input.command else { return }
        let (key, limit) = (LiveKey(input.app, live), self.settings.admission.livesPerApp)
        // A create of a running live makes no other: its owner comes back, or an earlier call is repeated.
        let isFull = self.tables.read { $0.liveCount(of: key.app) >= limit && $0.running(key) == nil }
        guard isFull else { return }
        self.metrics.refused(.livesPerApp)
        throw ReplyError(.overloaded, "the app has too many lives", retryAfter: 5000)
    }
}
