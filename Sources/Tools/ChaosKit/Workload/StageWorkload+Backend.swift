// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The part of the workload in which the app's backend posts texts over HTTP (I15).
extension StageWorkload {
    /// How long the backend waits for an answer before it sends the text to the next gateway.
    ///
    /// It is shorter than most faults, so that two gateways often have the same text.
    private static let answerTimeout = Duration.seconds(2)
    /// The pause before a request is sent again.
    private static let retryPause = Duration.milliseconds(200)
    /// The pause between two texts.
    private static let textPause = Duration.milliseconds(300)

    /// Lets the backend post texts into the second live until `isOver` returns true; does nothing without addresses for
    /// HTTP.
    ///
    /// Each text is sent again with its idempotency key, to one gateway after the other, until one of them answers. So
    /// several gateways may apply it, and the checker finds a text that is in the feed twice.
    func runBackend(until isOver: () -> Bool) async throws(Stall) {
        guard !self.setting.httpAddresses.isEmpty else { return }
        let client = HTTPClient(maxOpenRequests: 16)
        let thread = DedicatedThread("chaos-http") { client.run() }
        defer {
            client.stop()
            thread.join()
        }
        var round = 0
        while !isOver() {
            round += 1
            try await self.post("the backend posts \(round)", by: client)
            try? await Task.sleep(for: Self.textPause)
        }
    }

    /// Posts one text, and records its outcome.
    ///
    /// - Throws: `Stall` if no gateway answers within `stepTimeout`.
    private func post(_ text: String, by client: HTTPClient) async throws(Stall) {
        let live = self.lives[1]
        let index = self.record(.message(text), by: "the backend", in: live)
        let begin = ContinuousClock.now
        var attempt = 0
        var lastAnswer = "no answer"
        while ContinuousClock.now < begin + self.setting.stepTimeout {
            let addresses = self.setting.httpAddresses
            let age = (ContinuousClock.now - begin) / .milliseconds(1)
            let request = HTTPPost(
                url: "\(addresses[attempt % addresses.count])/v1/lives/\(live)/messages",
                headers: [
                    ("Authorization", "Bearer \(self.setting.token("\(self.setting.name)-backend", true))"),
                    ("Idempotency-Key", text.replacing(" ", with: "-")), ("Idempotency-Age", "\(Int64(age))"),
                ], body: Array(#"{"text":"\#(text)"}"#.utf8), timeout: Self.answerTimeout)
            let result = await withCheckedContinuation { continuation in
                client.send(request) { continuation.resume(returning: $0) }
            }
            if let outcome = Self.outcome(of: result) {
                self.history.withLock { $0.calls[index].outcome = outcome }
                return
            }
            lastAnswer = Self.description(of: result)
            attempt += 1
            try? await Task.sleep(for: Self.retryPause)
        }
        return try self.throwStall(
            "\"\(text)\" had no valid answer over HTTP for \(self.setting.stepTimeout); the last was \(lastAnswer)")
    }

    /// The parts of an answer that matter here: the position of a text that was sent, or an error.
    private struct Answer: Decodable {
        struct Result: Decodable { var sent: Sent? }
        struct Sent: Decodable { var position: FeedPosition }
        struct Failure: Decodable { var code: ReplyCode }
        var result: Result?
        var error: Failure?
    }

    /// The outcome of a text; nil if the result does not show the outcome, so that the text must be sent again.
    static func outcome(of result: HTTPResult) -> CallRecord.Outcome? {
        guard case .answered(_, let body) = result, let answer = try? Wire.decode(Answer.self, from: body) else {
            return nil
        }
        if let sent = answer.result?.sent { return .acknowledged(number: sent.position.number) }
        return answer.error?.code == .droppedByBudget ? .rejected : nil
    }

    private static func description(of result: HTTPResult) -> String {
        switch result {
        case .answered(let status, let body): "\(status) \(String(decoding: body.prefix(200), as: UTF8.self))"
        case .failed(let error): "\(error)"
        }
    }
}
