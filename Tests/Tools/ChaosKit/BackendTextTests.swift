// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import Testing

@testable import ChaosKit

/// Tests of the outcome of a text that the app's backend posts over HTTP, according to the gateway's answer.
struct BackendTextTests {
    private static func outcome(_ status: Int, _ body: String) -> CallRecord.Outcome? {
        StageWorkload.outcome(of: .answered(status: status, body: Array(body.utf8)))
    }

    @Test func `a text with a position was sent, and one that the budget dropped was rejected`() {
        let sent = #"{"result":{"sent":{"position":{"epoch":7,"number":12}}}}"#
        #expect(Self.outcome(200, sent) == .acknowledged(number: 12))
        #expect(Self.outcome(429, #"{"error":{"code":60105,"message":"dropped"}}"#) == .rejected)
    }

    @Test(arguments: [
        (429, #"{"error":{"code":60100,"message":"too frequent"}}"#),
        (503, #"{"error":{"code":60106,"message":"unavailable"}}"#), (504, "{}"), (200, "no JSON"), (200, ""),
    ])
    func `after any other answer the text is sent again`(status: Int, body: String) {
        #expect(Self.outcome(status, body) == nil)
    }

    @Test func `without an answer the text is sent again`() {
        #expect(StageWorkload.outcome(of: .failed(.timedOut)) == nil)
        #expect(StageWorkload.outcome(of: .failed(.unreachable("refused"))) == nil)
    }
}
