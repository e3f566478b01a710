// SPDX-License-Identifier: Apache-2.0

/// Decides when a renderer must begin or end to draw a user's video in a seat's view.
///
/// A renderer gets each change once. If the app sets another renderer, `use` returns the calls that end all that the
/// former one draws, and the next `show` of each seat begins its video with the new one. The renderer is referenced
/// weakly.
struct SeatVideoModel<View: AnyObject> {
    /// Identifies a seat of this live or of a connected live.
    struct SeatKey: Hashable {
        var liveID: String
        var index: Int
    }

    /// A call of `VideoRenderer.render`.
    struct RenderCall {
        /// The user whose video is drawn; nil if nothing is drawn any more.
        let userID: String?
        let liveID: String
        let view: View
    }

    private struct Drawing {
        var userID: String
        let view: View
    }

    private weak var renderer: AnyObject?
    /// What the renderer draws now.
    private var drawings: [SeatKey: Drawing] = [:]

    /// Sets the renderer that gets the next calls; nil for none.
    ///
    /// - Returns: the calls for the former renderer.
    mutating func use(_ renderer: AnyObject?) -> [RenderCall] {
        // The weak `self.renderer` is nil after the renderer was released, so that a new one at the same address is not
        // taken for it.
        if let renderer, renderer === self.renderer { return [] }
        let formerDrawings = self.drawings
        self.renderer = renderer
        self.drawings = [:]
        return formerDrawings.map { RenderCall(userID: nil, liveID: $0.key.liveID, view: $0.value.view) }
    }

    /// Shows a user's video, or none, in the view of a seat.
    ///
    /// - Returns: the call for the renderer; nil if the renderer need not do anything, or if there is none.
    mutating func show(_ userID: String?, _ seat: SeatKey, in view: View) -> RenderCall? {
        guard self.renderer != nil, self.drawings[seat]?.userID != userID else { return nil }
        self.drawings[seat] = userID.map { Drawing(userID: $0, view: view) }
        return RenderCall(userID: userID, liveID: seat.liveID, view: view)
    }

    /// Ends the video of a seat that is not shown any more.
    ///
    /// - Returns: the call for the renderer, as in `show`.
    mutating func remove(_ seat: SeatKey) -> RenderCall? {
        guard let drawing = self.drawings.removeValue(forKey: seat), self.renderer != nil else { return nil }
        return RenderCall(userID: nil, liveID: seat.liveID, view: drawing.view)
    }
}
