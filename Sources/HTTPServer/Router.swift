// SPDX-License-Identifier: Apache-2.0

/// Finds what serves a method and a path; a value, without any IO.
///
/// A pattern is a path whose parts are texts or `{names}`: `/v1/lives/{live}`. A text wins over a name, and GET serves
/// HEAD too. A name matches any part that is not empty.
package struct Router<Route> {
    fileprivate var root = Node()

    /// A router without routes.
    package init() {}

    /// Adds a route; one that was added before for the same method and pattern is replaced.
    package mutating func add(_ method: HTTPMethod, _ pattern: String, _ route: Route) {
        precondition(pattern.hasPrefix("/"), "the pattern '\(pattern)' does not begin with a slash")
        let parts = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        Self.add(method, parts[...], names: [], route, to: &self.root)
    }

    /// Looks up a decoded path.
    package func match(_ method: HTTPMethod, _ segments: [String]) -> RouteMatch<Route> {
        var methods: Set<HTTPMethod> = []
        if let match = Self.match(method, segments[...], values: [], self.root, &methods) { return match }
        if methods.isEmpty { return .notFound }
        if methods.contains(.get) { methods.insert(.head) }
        return .methodNotAllowed(allowed: methods.sorted { $0.rawValue < $1.rawValue })
    }

    private static func add(
        _ method: HTTPMethod, _ parts: ArraySlice<String>, names: [String], _ route: Route, to node: inout Node
    ) {
        guard let part = parts.first else {
            node.leaves[method] = Leaf(names: names, route: route)
            return
        }
        if part.hasPrefix("{"), part.hasSuffix("}") {
            let name = String(part.dropFirst().dropLast())
            var child = node.named.first ?? Node()
            Self.add(method, parts.dropFirst(), names: names + [name], route, to: &child)
            node.named = [child]
        } else {
            Self.add(method, parts.dropFirst(), names: names, route, to: &node.texts[part, default: Node()])
        }
    }

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
        if let child = node.texts[part],
            let found = Self.match(method, parts.dropFirst(), values: values, child, &methods)
        {
            return found
        }
        guard !part.isEmpty, let child = node.named.first else { return nil }
        return Self.match(method, parts.dropFirst(), values: values + [part], child, &methods)
    }

    fileprivate struct Node {
        var texts: [String: Node] = [:]
        /// At most one: an array because a value cannot hold itself.
        var named: [Node] = []
        var leaves: [HTTPMethod: Leaf] = [:]
    }

    fileprivate struct Leaf {
        var names: [String]
        var route: Route
    }
}

extension Router: Sendable where Route: Sendable {}
extension Router.Node: Sendable where Route: Sendable {}
extension Router.Leaf: Sendable where Route: Sendable {}

/// What a router found.
package enum RouteMatch<Route> {
    /// The route, and the decoded parts of the path by name.
    case found(Route, [String: String])
    /// No route has this path.
    case notFound
    /// The path has routes, but for these methods only.
    case methodNotAllowed(allowed: [HTTPMethod])
}

extension Router where Route == HTTPHandler {
    /// The handler that serves all routes and answers what has none.
    ///
    /// - Parameter body: makes the bodies of the answers 404 and 405.
    /// - Returns: a handler for `WebServer`.
    package func handler(failureBody body: @escaping HTTPFailure.Body = HTTPFailure.standardBody) -> HTTPHandler {
        { request, responder in
            switch self.match(request.method, request.segments) {
            case .found(let handler, let parameters):
                var request = request
                request.parameters = parameters
                handler(request, responder)
            case .notFound:
                responder.complete(.failure(.notFound, body: body))
            case .methodNotAllowed(let allowed):
                let header = HTTPHeader("Allow", allowed.map(\.rawValue).joined(separator: ", "))
                let status = request.method == .options ? 204 : 405
                let text = status == 204 ? [] : body(.methodNotAllowed)
                responder.complete(HTTPResponse(status: status, headers: [header], body: text))
            }
        }
    }
}
