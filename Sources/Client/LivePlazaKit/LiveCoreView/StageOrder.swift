// SPDX-License-Identifier: Apache-2.0

/// The views of a stage from the lowest to the highest.
///
/// The system draws subviews in their order, and offers a touch to the last subview first. The `zPosition` of layers
/// could also order what is drawn. But touches and accessibility ignore the `zPosition`, and views that the app adds to
/// the stage itself would lie under the video.
struct StageOrder<View: AnyObject> {
    /// Where a view must be inserted.
    enum Position {
        /// The view is at its place.
        case unchanged
        /// Directly below this view.
        case below(View)
        /// Above all others.
        case top
    }

    private var views: [(view: View, level: Int)] = []

    /// Puts a view above all views of its level and of lower levels, and below those of higher levels.
    ///
    /// A view whose level is the same as before stays where it is.
    mutating func place(_ view: View, level: Int) -> Position {
        if let index = self.views.firstIndex(where: { $0.view === view }) {
            if self.views[index].level == level { return .unchanged }
            self.views.remove(at: index)
        }
        guard let index = self.views.firstIndex(where: { $0.level > level }) else {
            self.views.append((view, level))
            return .top
        }
        let next = self.views[index].view
        self.views.insert((view, level), at: index)
        return .below(next)
    }

    /// Removes a view.
    mutating func remove(_ view: View) { self.views.removeAll { $0.view === view } }
}
