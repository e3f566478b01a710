// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// A request's path, query and body as the parameters of a call; what the route does not name is refused.
enum RouteInput {
    /// The parameters.
    ///
    /// - Throws: 400 with the name of what is wrong, 404 for a path that names nothing, 415 for a body of another type.
    static func parameters(of request: HTTPRequest, _ route: Route) throws(APIRefusal) -> [String: JSONValue] {
        var parameters = try Self.body(of: request, route)
        for part in route.parts {
            let text = request.parameters[part.name] ?? ""
            guard case .integer = part.schema else {
                // Names are checked by the call's parser, which says what they are made of.
                parameters[part.field] = .text(text)
                continue
            }
            guard let number = Int64(text) else {
                throw APIRefusal(.badParameter, "\(part.name) is not a whole number in range")
            }
            parameters[part.field] = .integer(number)
        }
        for (field, value) in try Self.query(of: request, route) { parameters[field] = value }
        return route.shape?(parameters) ?? parameters
    }

    private static func body(of request: HTTPRequest, _ route: Route) throws(APIRefusal) -> [String: JSONValue] {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let isBlank = request.body.allSatisfy { blanks.contains($0) }
        guard let schema = route.body else {
            guard isBlank else { throw APIRefusal(.badFrame, "this operation takes no body") }
            return [:]
        }
        if isBlank {
            if route.isBodyNeeded { throw APIRefusal(.badFrame, "a JSON body is missing") }
            return [:]
        }
        if let type = request.headers["content-type"] {
            let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
            guard name == "application/json" else {
                throw APIRefusal(.badFrame, "the body must be application/json", status: 415)
            }
        }
        let value: JSONValue
        do throws(WireError) {
            value = try Wire.decode(JSONValue.self, ofOthers: request.body)
        } catch {
            throw APIRefusal(.badFrame, "the body is not JSON")
        }
        if let fault = schema.fault(in: value) { throw APIRefusal(.badParameter, fault) }
        return value.members
    }

    private static func query(of request: HTTPRequest, _ route: Route) throws(APIRefusal) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for item in request.query {
            guard let known = route.query.first(where: { $0.name == item.name }) else {
                throw APIRefusal(.badParameter, "\(item.name.prefix(64)) is not known here")
            }
            if known.isList {
                var elements: [JSONValue] = []
                if case .array(let before)? = values[known.field] { elements = before }
                values[known.field] = .array(elements + [.text(item.value)])
                continue
            }
            guard values[known.field] == nil else {
                throw APIRefusal(.badParameter, "\(known.name) is named twice")
            }
            guard case .integer = known.schema else {
                values[known.field] = .text(item.value)
                continue
            }
            guard let number = Int64(item.value) else {
                throw APIRefusal(.badParameter, "\(known.name) is not a whole number in range")
            }
            values[known.field] = .integer(number)
        }
        for known in route.query {
            guard let value = values[known.field] else {
                if known.isNeeded { throw APIRefusal(.badParameter, "\(known.name) is missing") }
                continue
            }
            let fault =
                known.schema.fault(in: value, at: known.name) ?? known.schema.limitFault(in: value, at: known.name)
            if let fault { throw APIRefusal(.badParameter, fault) }
        }
        return values
    }
}
