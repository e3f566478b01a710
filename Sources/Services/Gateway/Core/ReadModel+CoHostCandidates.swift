// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Selects the lives with which a live could be connected.
extension ReadModel {
    /// Returns a live's entry in the list of co-host candidates of `ownLive`; nil if it is not a candidate (R8.11,
    /// R8.12).
    ///
    /// A candidate is another public live of the same kind (voice or video), not in a co-host connection, whose owner
    /// is present. The status says so: while the owner is absent, it is `scheduled` or `suspended` and not `running`.
    package func candidate(_ key: LiveKey, for ownLive: LiveRecord) -> LiveListEntry? {
        guard key != ownLive.key, let live = self.running(key), live.info.isVoice == ownLive.info.isVoice,
            live.info.status == .running, self.stage(of: live)?.connection == nil
        else { return nil }
        return self.listEntry(key, category: nil)
    }
}
