// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
internal import UIKit

/// Holds the pictures and widgets of a stage, in the order of their levels.
///
/// They have a view of their own, so that the views that an app adds to `LiveCoreView` lie above all of them.
@MainActor final class StageLayers {
    let view = UIView(frame: .zero)
    private var order = StageOrder<UIView>()

    /// Adds a view, or moves it to another level.
    func place(_ view: UIView, level: Int) {
        switch self.order.place(view, level: level) {
        case .unchanged: break
        case .below(let next): self.view.insertSubview(view, belowSubview: next)
        case .top: self.view.addSubview(view)
        }
    }

    /// Removes a view.
    func remove(_ view: UIView) {
        self.order.remove(view)
        view.removeFromSuperview()
    }
}
#endif
