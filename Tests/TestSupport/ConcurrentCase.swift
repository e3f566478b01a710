// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import Testing

/// A case of a test that runs at the same time as the test's other cases.
///
/// Cases must share nothing. They should spend most of their time waiting, so that many can run at once.
package struct ConcurrentCase: Sendable {
    /// What the case shows; the text of each issue of the case begins with it.
    package let name: String
    private let body: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - name: what the case shows.
    ///   - body: the case; what it throws is an issue.
    package init(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs cases at the same time, and returns when all have ended.
    ///
    /// Each case runs to its end, even if another case fails.
    ///
    /// - Parameters:
    ///   - cases: the cases, those that last longest first.
    ///   - limit: how many cases may run at a time.
    ///   - sourceLocation: where errors of cases are reported.
    package static func run(
        _ cases: [ConcurrentCase], atMost limit: Int = .max, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, testCase) in cases.enumerated() {
                if index >= limit { await group.next() }
                group.addTask { await testCase.run(sourceLocation) }
            }
        }
    }

    /// Runs a blocking test once for each item, all at the same time, each on a thread of its own.
    ///
    /// - Parameters:
    ///   - items: what the cases are about; the description of each is the name of its case.
    ///   - sourceLocation: where errors of cases are reported.
    ///   - body: the test.
    package static func runBlocking<Item: Sendable>(
        _ items: [Item], sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (Item) throws -> Void
    ) async {
        let cases = items.map { item in
            ConcurrentCase("\(item)") { try await runOnDedicatedThread { try body(item) } }
        }
        await self.run(cases, sourceLocation: sourceLocation)
    }

    private func run(_ sourceLocation: SourceLocation) async {
        let began = ContinuousClock.now
        // The text of each issue of the case begins with the case's name.
        let namingTrait = IssueHandlingTrait.compactMapIssues { [name] issue in
            var namedIssue = issue
            namedIssue.comments.insert("\(name):", at: 0)
            return namedIssue
        }
        do {
            guard let test = Test.current else { throw NoTest() }
            try await namingTrait.provideScope(for: test, testCase: Test.Case.current) { try await self.body() }
        } catch is ExpectationFailedError {
            // `#require` has recorded this error as an issue.
        } catch {
            Issue.record(error, "\(self.name):", sourceLocation: sourceLocation)
        }
        print("\(self.name): ended after \((ContinuousClock.now - began) / .seconds(1)) s")
    }

    /// A case was run outside a test.
    private struct NoTest: Error {}
}
