// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
internal import PlazaWire

/// The call that an HTTP request asks for: its method and parameters.
///
/// The request's token is not checked.
///
/// The fuzz target of requests, which has no gateway, creates this value. `GatewayAPI` finds the route with a router of
/// its own, checks the token, and then reads the call with the same `read`.
package enum RequestedCall: Sendable {
    /// A call with its method and its parameters in JSON.
    case call(method: String, params: [UInt8])
    /// The request is rejected with this status.
    case rejected(status: Int)
    /// No operation has the request's method and path.
    case unrouted

    private static let router: Router<Route> = {
        var router = Router<Route>()
        for route in RouteTable.all { router.add(route.method, route.path, route) }
        return router
    }()

    /// Reads a request whose body is complete.
    package init(_ request: HTTPRequest) {
        guard case .found(let route, let values) = Self.router.match(request.method, request.segments) else {
            self = .unrouted
            return
        }
        var request = request
        request.parameters = values
        do throws(APIError) {
            let (method, params) = try Self.read(request, route)
            self = .call(method: method, params: params)
        } catch {
            self = .rejected(status: error.status)
        }
    }

    /// Reads the method and the parameters of a request whose route is known.
    ///
    /// - Throws: The error with which the request is rejected.
    static func read(
        _ request: HTTPRequest, _ route: Route
    ) throws(APIError) -> (method: String, params: [UInt8]) {
        let parameters = try RouteInput.parameters(of: request, route)
        return (route.method(of: request), Wire.encode(JSONValue.object(parameters)))
    }
}
