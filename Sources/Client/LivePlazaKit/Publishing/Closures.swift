// SPDX-License-Identifier: Apache-2.0

/// Called on the delivery queue when a method has ended.
public typealias CompletionClosure = (Result<Void, ErrorInfo>) -> Void
/// As `CompletionClosure`, with the live.
public typealias LiveInfoCompletionClosure = (Result<LiveInfo, ErrorInfo>) -> Void
/// As `CompletionClosure`, with the live's final statistics.
public typealias StopLiveCompletionClosure = (Result<TUILiveStatisticsData, ErrorInfo>) -> Void
/// As `CompletionClosure`, with metadata of the live.
public typealias MetaDataCompletionClosure = (Result<[String: String], ErrorInfo>) -> Void
/// As `CompletionClosure`, with the battle, and the code of each request by the id of the invited host.
///
/// The codes are: 0 if the host was asked, 1 if there is no such live, 2 if the live was named twice, 3 if the live is
/// in a battle, 4 if the live is not connected.
public typealias BattleRequestClosure = (Result<(BattleInfo, [String: Int]), ErrorInfo>) -> Void
/// Like `CompletionClosure`, but also gets a page of a list, and the cursor of the next page.
public typealias ListResultCompletionClosure<T> = (Result<([T], String), ErrorInfo>) -> Void

/// Passes an app's closure to the delivery queue; the closure is called only there.
///
/// The closures of the stores are not `@Sendable`, so that app code compiles in the language mode of Swift 5 and of
/// Swift 6.
struct Completion<Success>: @unchecked Sendable {
    private let closure: ((Result<Success, ErrorInfo>) -> Void)?

    init(_ closure: ((Result<Success, ErrorInfo>) -> Void)?) { self.closure = closure }

    /// Calls the closure; must be called on the delivery queue.
    func callAsFunction(_ result: Result<Success, ErrorInfo>) { self.closure?(result) }
}
