// SPDX-License-Identifier: Apache-2.0

/// An answer to a request.
package struct HTTPResponse: Sendable, Equatable {
    /// The status; outside 200…599 it becomes 500.
    package var status: Int
    /// The headers, in order; `Content-Type: application/json` is added when there is a body and none is named, and the
    /// server adds `Content-Length`, `Date` and `Connection`.
    package var headers: [HTTPHeader]
    /// The body.
    package var body: [UInt8]

    /// Builds an answer.
    package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of plain text, or of another type.
    package static func text(
        _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [HTTPHeader("Content-Type", contentType)], body: Array(text.utf8))
    }

    /// The answer to a request that failed before any handler saw it; the server's owner may replace its body.
    static func failure(_ failure: HTTPFailure, body: HTTPFailure.Body, headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(status: failure.status, headers: headers, body: body(failure))
    }
}

/// One header of an answer.
package struct HTTPHeader: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The value; with a line break in it the header is left out.
    package let value: String

    /// Names a value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Why the server or the router answers by itself.
package enum HTTPFailure: String, Sendable, CaseIterable {
    /// The request cannot be understood.
    case badRequest
    /// No route has this path.
    case notFound
    /// No route has this path with this method.
    case methodNotAllowed
    /// The body is beyond the limit.
    case payloadTooLarge
    /// There are more headers than the limit.
    case headersTooLarge
    /// The server stops.
    case unavailable
    /// The handler took longer than the limit.
    case deadlineExceeded

    /// Makes the body of such an answer.
    package typealias Body = @Sendable (HTTPFailure) -> [UInt8]

    /// The status of the answer.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .notFound: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .headersTooLarge: 431
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }

    /// The body that is sent when the owner has no other: `{"error":{"name":"notFound"}}`.
    package static let standardBody: Body = { Array("{\"error\":{\"name\":\"\($0.rawValue)\"}}".utf8) }
}
