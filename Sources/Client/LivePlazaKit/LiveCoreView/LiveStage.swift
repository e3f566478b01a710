// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftUI) && canImport(UIKit) && !os(watchOS)
public import SwiftUI
internal import UIKit

/// The stage of a live in SwiftUI.
///
/// ```swift
/// LiveStage(liveID: "concert", delegate: widgets)
///     .aspectRatio(9 / 16, contentMode: .fit)
/// ```
public struct LiveStage: UIViewRepresentable {
    private let liveID: String
    private let viewType: CoreViewType
    private let plaza: LivePlaza
    private weak var delegate: (any VideoViewDelegate)?
    private weak var renderer: (any VideoRenderer)?

    /// Makes a stage.
    ///
    /// - Parameters:
    ///   - liveID: the live.
    ///   - viewType: whether the view is a host's or a viewer's.
    ///   - plaza: the client that is in the live.
    ///   - delegate: makes the widgets; the app must retain it.
    ///   - renderer: draws the pictures; the app must retain it.
    public init(
        liveID: String, viewType: CoreViewType = .playView, of plaza: LivePlaza = .shared,
        delegate: (any VideoViewDelegate)? = nil, renderer: (any VideoRenderer)? = nil
    ) {
        self.liveID = liveID
        self.viewType = viewType
        self.plaza = plaza
        self.delegate = delegate
        self.renderer = renderer
    }

    /// Makes the view.
    public func makeUIView(context: Context) -> LiveCoreView {
        let view = LiveCoreView(viewType: self.viewType)
        view.videoViewDelegate = self.delegate
        view.videoRenderer = self.renderer
        view.setLiveID(self.liveID, of: self.plaza)
        context.coordinator.liveID = self.liveID
        return view
    }

    /// Shows another live, and uses other widgets and pictures, if they have changed.
    public func updateUIView(_ view: LiveCoreView, context: Context) {
        if view.videoViewDelegate !== self.delegate { view.videoViewDelegate = self.delegate }
        if view.videoRenderer !== self.renderer { view.videoRenderer = self.renderer }
        guard context.coordinator.liveID != self.liveID else { return }
        context.coordinator.liveID = self.liveID
        view.setLiveID(self.liveID, of: self.plaza)
    }

    /// Makes the coordinator.
    public func makeCoordinator() -> Coordinator { Coordinator() }

    /// Remembers the live that the view shows.
    @MainActor public final class Coordinator {
        var liveID = ""
    }
}
#endif
