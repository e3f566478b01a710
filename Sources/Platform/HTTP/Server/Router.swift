// SPDX-License-Identifier: Apache-2.0

/// Finds the route for the method and the path of an HTTP request; a value type without IO.
///
/// A pattern is a path whose parts are fixed texts or `{parameters}`: `/v1/lives/{live}`. A parameter matches any part
/// that is not empty; a fixed text has priority over a parameter. A route for GET also serves HEAD.
package struct Router<Route> {
    fileprivate var root = Node()

    /// The longest part of a pattern, in bytes.
    private static var maxTextBytes: Int { 64 }

    /// A router without routes.
    package init() {}

    /// Adds a route; it replaces an earlier route with the same method and pattern.
    package mutating func add(_ method: HTTPMethod, _ pattern: String, _ route: Route) {
        precondition(pattern.hasPrefix("/"), "the pattern '\(pattern)' does not begin with a slash")
        let parts = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        Self.add(method, parts[...], names: [], route, to: &self.root)
    }

    /// Looks up the route for a method and the decoded segments of a path.
    package func match(_ method: HTTPMethod, _ segments: [String]) -> RouteMatch<Route> {
        var methods: Set<HTTPMethod> = []
        if let match = Self.match(method, segments[...], values: [], self.root, &methods) { return match }
        if methods.isEmpty { return .notFound }
        if methods.contains(.get) { methods.insert(.head) }
        return .methodNotAllowed(allowed: methods.sorted { $0.rawValue < $1.rawValue })
    }

    /// Adds a route below `node` for the remaining parts of its pattern; `names` are the names of the parameters among
    /// the earlier parts.
    private static func add(
        _ method: HTTPMethod, _ parts: ArraySlice<String>, names: [String], _ route: Route, to node: inout Node
    ) {
        precondition(parts.allSatisfy { $0.utf8.count <= Self.maxTextBytes }, "a part of a pattern is too long")
        guard let part = parts.first else {
            node.leaves[method] = Leaf(names: names, route: route)
            return
        }
        if part.hasPrefix("{"), part.hasSuffix("}") {
            let name = String(part.dropFirst().dropLast())
            var child = node.parameterChild.first ?? Node()
            Self.add(method, parts.dropFirst(), names: names + [name], route, to: &child)
            node.parameterChild = [child]
        } else {
            Self.add(method, parts.dropFirst(), names: names, route, to: &node.textChildren[part, default: Node()])
        }
    }

    /// Looks up the route below `node` for the remaining parts of a path.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - parts: the remaining parts.
    ///   - values: the values of the parameters among the earlier parts.
    ///   - node: the node to which the earlier parts lead.
    ///   - methods: collects the methods of all routes with this path, for the header `Allow`.
    /// - Returns: the route; nil if there is none for `method`.
    private static func match(
        _ method: HTTPMethod, _ parts: ArraySlice<String>, values: [String], _ node: Node,
        _ methods: inout Set<HTTPMethod>
    ) -> RouteMatch<Route>? {
        guard let part = parts.first else {
            methods.formUnion(node.leaves.keys)
            let leaf = node.leaves[method] ?? (method == .head ? node.leaves[.get] : nil)
            return leaf.map { leaf in
                .found(leaf.route, Dictionary(zip(leaf.names, values)) { _, last in last })
            }
        }
        // A part with many combining marks would take long to hash. Therefore a part is looked up only if it is short
        // and ASCII. The fixed texts of patterns must be ASCII, too, because others are never found.
        if part.utf8.count <= Self.maxTextBytes, part.utf8.allSatisfy({ $0 < 0x80 }),
            let child = node.textChildren[part],
            let found = Self.match(method, parts.dropFirst(), values: values, child, &methods)
        {
            return found
        }
        guard !part.isEmpty, let child = node.parameterChild.first else { return nil }
        return Self.match(method, parts.dropFirst(), values: values + [part], child, &methods)
    }

    /// A node of the tree of patterns; the path from the root to a node is the beginning of a pattern.
    fileprivate struct Node {
        /// The children for fixed texts.
        var textChildren: [String: Node] = [:]
        /// The child for a parameter, if there is one.
        ///
        /// It is an array of at most one node, because a struct cannot contain itself.
        var parameterChild: [Node] = []
        /// The routes that end at this node.
        var leaves: [HTTPMethod: Leaf] = [:]
    }

    /// A route with the names of the parameters in its pattern, in order.
    fileprivate struct Leaf {
        var names: [String]
        var route: Route
    }
}

extension Router: Sendable where Route: Sendable {}
extension Router.Node: Sendable where Route: Sendable {}
extension Router.Leaf: Sendable where Route: Sendable {}

/// The result of a look-up.
package enum RouteMatch<Route> {
    /// The route, and the decoded values of the path's parameters by name.
    case found(Route, [String: String])
    /// No route has this path.
    case notFound
    /// The path has routes for these methods only.
    case methodNotAllowed(allowed: [HTTPMethod])
}

extension RouteMatch {
    /// The response to a request without a route; nil if there is a route.
    fileprivate func rejection(of request: HTTPRequest, _ body: HTTPFailure.Body) -> HTTPResponse? {
        switch self {
        case .found: return nil
        case .notFound: return .failure(.notFound, body: body)
        case .methodNotAllowed(let allowed):
            let header = HTTPHeader("Allow", allowed.map(\.rawValue).joined(separator: ", "))
            // The method OPTIONS asks for the allowed methods, so it is not an error.
            let status = request.method == .options ? 204 : 405
            let text = status == 204 ? [] : body(.methodNotAllowed)
            return HTTPResponse(status: status, headers: [header], body: text)
        }
    }
}

extension Router where Route == HTTPHeadHandler {
    /// Makes the handler that serves all routes and responds to requests without a route.
    ///
    /// Each route decides about a request before the request's body is read.
    ///
    /// - Parameters:
    ///   - body: makes the bodies of the responses 404 and 405.
    ///   - unrouted: called with each request that has no route; its response, if any, replaces the router's own.
    /// - Returns: a handler for `WebServer`.
    package func headHandler(
        failureBody body: @escaping HTTPFailure.Body = HTTPFailure.defaultBody,
        unrouted: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil }
    ) -> HTTPHeadHandler {
        { request in
            let match = self.match(request.method, request.segments)
            guard case .found(let handler, let parameters) = match else {
                if let response = unrouted(request) { return .reject(response) }
                // `rejection` is nil only for `.found`, so the alternative is never used.
                return match.rejection(of: request, body).map { .reject($0) } ?? .read { _, _ in }
            }
            var head = request
            head.parameters = parameters
            switch handler(head) {
            case .reject(let response): return .reject(response)
            case .read(let bodyHandler):
                // The request that comes with the body is another value, which lacks the parameters.
                return .read { request, responder in
                    var request = request
                    request.parameters = parameters
                    bodyHandler(request, responder)
                }
            }
        }
    }
}

extension Router where Route == HTTPHandler {
    /// Makes the handler that serves all routes and responds to requests without a route.
    ///
    /// - Parameter body: makes the bodies of the responses 404 and 405.
    /// - Returns: a handler for `WebServer`.
    package func handler(failureBody body: @escaping HTTPFailure.Body = HTTPFailure.defaultBody) -> HTTPHandler {
        { request, responder in
            let match = self.match(request.method, request.segments)
            if case .found(let handler, let parameters) = match {
                var request = request
                request.parameters = parameters
                handler(request, responder)
            } else if let rejection = match.rejection(of: request, body) {
                responder.complete(rejection)
            }
        }
    }
}
