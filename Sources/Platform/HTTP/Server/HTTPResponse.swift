// SPDX-License-Identifier: Apache-2.0

/// A response to a request.
package struct HTTPResponse: Sendable, Equatable {
    /// The status; a number outside 200…599 is sent as 500.
    package var status: Int
    /// The headers, in order.
    ///
    /// If there is a body and no `Content-Type`, the server adds `application/json`. It always adds `Content-Length`,
    /// `Date` and `Connection`.
    package var headers: [HTTPHeader]
    /// The body.
    package var body: [UInt8]

    /// Builds a response.
    package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response with a text body, by default plain text.
    package static func text(
        _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [HTTPHeader("Content-Type", contentType)], body: Array(text.utf8))
    }

    /// The response for a failure; `body` encodes the failure.
    static func failure(_ failure: HTTPFailure, body: HTTPFailure.Body, headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(status: failure.status, headers: headers, body: body(failure))
    }
}

/// One header of a response.
package struct HTTPHeader: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The value; a header whose value has a line break is left out.
    package let value: String

    /// Makes a header.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Why the server or the router itself responds, without a handler.
package enum HTTPFailure: String, Sendable, CaseIterable {
    /// The request is malformed.
    case badRequest
    /// No route has this path.
    case notFound
    /// No route has this path with this method.
    case methodNotAllowed
    /// The body is larger than the limit.
    case payloadTooLarge
    /// The request line and headers are larger than the limit, or there are too many headers or query items.
    case headersTooLarge
    /// The client has too many requests open.
    case tooManyRequests
    /// The server is stopping.
    case unavailable
    /// The handler took longer than the limit.
    case deadlineExceeded

    /// A function that makes the body of the response for a failure.
    package typealias Body = @Sendable (HTTPFailure) -> [UInt8]

    /// The status of the response for this failure.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .notFound: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .headersTooLarge: 431
        case .tooManyRequests: 429
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }

    /// Makes bodies such as `{"error":{"name":"notFound"}}`.
    package static let defaultBody: Body = { Array("{\"error\":{\"name\":\"\($0.rawValue)\"}}".utf8) }
}
