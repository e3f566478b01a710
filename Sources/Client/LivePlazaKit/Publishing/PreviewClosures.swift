// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
/// An app's closures for the events of a preview; they are called on the main thread only.
///
/// They are not `@Sendable`, so that an app may use its main-actor objects in them.
struct PreviewClosures: @unchecked Sendable {
    let onPlaying: TUIPlayOnPlayingBlock?
    let onLoading: TUIPlayOnLoadingBlock?
    let onError: TUIPlayOnErrorBlock?

    func report(_ event: PreviewEvent) {
        switch event {
        case .playing(let userID): self.onPlaying?(userID)
        case .loading(let userID): self.onLoading?(userID)
        case .failed(let userID, let error):
            self.onError?(userID, TUIError(rawValue: error.code) ?? .failed, error.message)
        }
    }
}
#endif
