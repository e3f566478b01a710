// SPDX-License-Identifier: Apache-2.0
// The part of UIKit that LivePlazaKit uses, to type-check its code for Apple systems on Linux.
@_exported import Foundation

@MainActor open class UIResponder {
    public init() {}
}

@MainActor open class UIView: UIResponder {
    public enum ContentMode: Sendable { case scaleAspectFill, scaleAspectFit }

    open var frame: CGRect
    open var bounds: CGRect { CGRect(x: 0, y: 0, width: self.frame.width, height: self.frame.height) }
    open var isHidden = false
    open var clipsToBounds = false
    open var contentMode = ContentMode.scaleAspectFill
    open var backgroundColor: UIColor?

    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    public required init?(coder: NSCoder) { nil }

    open func addSubview(_ view: UIView) {}
    open func insertSubview(_ view: UIView, belowSubview sibling: UIView) {}
    open func removeFromSuperview() {}
    open func layoutSubviews() {}
}

public final class UIColor: Sendable {
    public static let white = UIColor()
    public static let clear = UIColor()
    public static let darkGray = UIColor()
}

public final class UIImage: Sendable {}

public enum NSTextAlignment: Sendable { case natural, center }

open class UILabel: UIView {
    public var text: String?
    public var textColor: UIColor?
    public var textAlignment = NSTextAlignment.natural
}

open class UIImageView: UIView {
    public var image: UIImage?
}
