// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency

/// An app's backend that records its requests; the test chooses its answers.
package final class RecordingReceiver: Sendable {
    private let recorded: ConditionVariable<[WebhookReceiver.Received]>
    private let receiver: WebhookReceiver

    /// Starts to listen.
    ///
    /// - Parameter behave: chooses the behaviour for a request. Its first argument is the request's index, from 0 in
    ///   the order of arrival.
    /// - Throws: an error if the backend cannot listen on a port.
    package init(
        _ behave: @escaping @Sendable (Int, WebhookReceiver.Received) -> WebhookReceiver.Behaviour
    ) throws {
        let recorded = ConditionVariable<[WebhookReceiver.Received]>([])
        self.recorded = recorded
        self.receiver = try WebhookReceiver { request in
            let index = recorded.update { requests in
                requests.append(request)
                return requests.count - 1
            }
            return behave(index, request)
        }
    }

    /// The URL of the backend.
    package var url: String { self.receiver.url }

    /// The requests received so far.
    package var received: [WebhookReceiver.Received] { self.recorded.current }

    /// Waits until the received requests satisfy `isEnough`.
    ///
    /// - Returns: the requests; nil when they were not enough within `timeout`.
    package func wait(
        timeout: Duration = .seconds(15), until isEnough: ([WebhookReceiver.Received]) -> Bool
    ) -> [WebhookReceiver.Received]? {
        self.recorded.wait(timeout: timeout) { isEnough($0) ? $0 : nil }
    }

    /// Stops the server and closes the connections of open requests.
    package func stop() { self.receiver.stop() }
}

extension WebhookReceiver.Received {
    /// The body as text.
    package var text: String { String(decoding: self.body, as: UTF8.self) }
}

extension WebhookReceiver.Behaviour {
    /// Does not answer in time: the receiver's web server answers with status 504 after its `handlerTimeout`.
    ///
    /// The delay is longer than this timeout, so the status 500 is never sent.
    package static var keepSilent: WebhookReceiver.Behaviour { .answerLate(.seconds(600), 500, "") }
}
