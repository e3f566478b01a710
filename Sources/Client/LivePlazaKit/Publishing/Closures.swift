// SPDX-License-Identifier: Apache-2.0

/// Is called on the delivery queue when a method has ended.
public typealias CompletionClosure = (Result<Void, ErrorInfo>) -> Void
/// As `CompletionClosure`, with the live.
public typealias LiveInfoCompletionClosure = (Result<LiveInfo, ErrorInfo>) -> Void
/// As `CompletionClosure`, with the live's final figures.
public typealias StopLiveCompletionClosure = (Result<TUILiveStatisticsData, ErrorInfo>) -> Void
/// As `CompletionClosure`, with metadata of the live.
public typealias MetaDataCompletionClosure = (Result<[String: String], ErrorInfo>) -> Void
/// As `CompletionClosure`, with the battle, and by user id the code of each request: 0 asked, 1 no such live, 2 named
/// twice, 3 in a battle, 4 not connected.
public typealias BattleRequestClosure = (Result<(BattleInfo, [String: Int]), ErrorInfo>) -> Void
/// As `CompletionClosure`, with a page of a list, and the cursor of the next page.
public typealias ListResultCompletionClosure<T> = (Result<([T], String), ErrorInfo>) -> Void

/// Carries an app's closure to the delivery queue, where alone it is called.
///
/// The closures of the stores are not `@Sendable`, so that app code compiles in the language mode of Swift 5 and of
/// Swift 6.
struct Completion<Success>: @unchecked Sendable {
    private let closure: ((Result<Success, ErrorInfo>) -> Void)?

    init(_ closure: ((Result<Success, ErrorInfo>) -> Void)?) { self.closure = closure }

    /// Calls the closure; on the delivery queue.
    func callAsFunction(_ result: Result<Success, ErrorInfo>) { self.closure?(result) }
}
