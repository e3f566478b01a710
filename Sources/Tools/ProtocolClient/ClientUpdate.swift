// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// An update: something that a client receives besides the replies to its calls.
package enum ClientUpdate: Hashable, Sendable {
    /// New items of the live that the client is in, in order.
    case feed([FeedEntry], epoch: Int64)
    /// Messages from before the client joined, in order and each only once.
    ///
    /// Long history comes in several updates.
    case history([FeedEntry], epoch: Int64)
    /// Any other event.
    case event(BareClientCore.Event)
}
