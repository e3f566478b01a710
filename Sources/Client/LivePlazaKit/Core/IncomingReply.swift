// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The result or the error in a reply.
enum ReplyContent: Sendable {
    case success(CallResult)
    case failure(ErrorInfo)
    /// The call has succeeded, but its result cannot be read; the error tells why.
    case unreadable(ErrorInfo)

    /// The outcome of the call that this reply answers.
    var result: Result<CallResult, ErrorInfo> {
        switch self {
        case .success(let result): .success(result)
        case .failure(let error), .unreadable(let error): .failure(error)
        }
    }
}

/// A frame with a reply.
struct ReplyBody: Decodable {
    let id: Int64
    let content: ReplyContent

    private struct Failure: Decodable {
        var code: Int
        var message: String?
        var retryAfter: Int64?
        var reason: String?
    }

    private struct Pong: Decodable {
        var at: Timestamp?
    }

    private enum Key: String, CodingKey {
        case id
        case error
        case result
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.id = try container.decode(Int64.self, forKey: .id)
        if let error = try container.decodeIfPresent(Failure.self, forKey: .error) {
            self.content = .failure(
                ErrorInfo(
                    ReplyCode(error.code), error.message ?? "",
                    retryAfter: error.retryAfter.map { Milliseconds(max(0, $0)) }, reason: error.reason))
        } else {
            switch TolerantValue(CallResult.self, in: container, forKey: .result) {
            case .value(.done):
                // The answer to a ping is `done` with the server's time: `{"done": {"at": …}}`.
                let at = try? container.decode([String: Pong].self, forKey: .result)["done"]?.at
                self.content = .success(at.map { .pong(at: $0) } ?? .done)
            case .value(let result): self.content = .success(result)
            case .unknown: self.content = .unreadable(.badFrame("a result of an unknown kind"))
            case .fault(let error): self.content = .unreadable(error)
            }
        }
    }
}
