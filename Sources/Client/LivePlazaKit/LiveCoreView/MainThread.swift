// SPDX-License-Identifier: Apache-2.0
#if canImport(UIKit) && !os(watchOS)
/// Runs `body` on the main actor at once; must be called on the main thread.
///
/// On systems before iOS 18, `assumeIsolated` compares executors. It would trap in a job of a client's executor,
/// although that job runs on the main thread. There the cast removes the isolation from the closure's type.
func assumeOnMainThread<T: Sendable>(_ body: @MainActor () -> T) -> T {
    if #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) { return MainActor.assumeIsolated(body) }
    return withoutActuallyEscaping(body) { body in unsafe unsafeBitCast(body, to: (() -> T).self)() }
}
#endif
