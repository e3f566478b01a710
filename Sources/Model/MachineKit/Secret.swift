// SPDX-License-Identifier: Apache-2.0

/// A text that must not be printed, such as a password: its description and its reflection are `(secret)`.
///
/// Therefore a value that contains a secret can be interpolated safely into a log line or an error.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself; pass it only to the library that needs it.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) { self.text = text }

    package var description: String { "(secret)" }
    package var debugDescription: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
