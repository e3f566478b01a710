// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// Converts a request's path, query and body to the parameters of a call.
///
/// A query item or property that the route does not define is rejected.
enum RouteInput {
    /// Returns the call's parameters.
    ///
    /// - Throws: Status 400 with the name of the invalid parameter, or status 415 if the content type is not JSON.
    static func parameters(of request: HTTPRequest, _ route: Route) throws(APIError) -> [String: JSONValue] {
        var parameters = try Self.body(of: request, route)
        for part in route.parts {
            let text = request.parameters[part.name] ?? ""
            guard case .integer = part.schema else {
                // Any other part is a text, such as an id. The call's parser checks the text, and its errors name the
                // allowed characters.
                parameters[part.field] = .text(text)
                continue
            }
            guard let number = Int64(text) else {
                throw APIError(.badParameter, "\(part.name) is not a whole number in range")
            }
            parameters[part.field] = .integer(number)
        }
        for (field, value) in try Self.query(of: request, route) { parameters[field] = value }
        return route.convertParameters?(parameters) ?? parameters
    }

    /// Returns the properties of the body, after checking its structure.
    ///
    /// - Throws: Status 400 if the body is missing, malformed or not allowed; status 415 for another content type.
    private static func body(of request: HTTPRequest, _ route: Route) throws(APIError) -> [String: JSONValue] {
        // The white space of JSON: blank, tab, line feed and carriage return.
        let isBlank = request.body.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        guard let schema = route.body else {
            guard isBlank else { throw APIError(.badFrame, "this operation takes no body") }
            return [:]
        }
        if isBlank {
            if route.isBodyRequired { throw APIError(.badFrame, "a JSON body is missing") }
            return [:]
        }
        if let contentType = request.headers["content-type"] {
            let mediaType = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
            guard mediaType == "application/json" else {
                throw APIError(.badFrame, "the body must be application/json", status: 415)
            }
        }
        let value: JSONValue
        do throws(WireError) {
            value = try Wire.decodeClientJSON(request.body)
        } catch {
            guard case .badField = error else { throw APIError(.badFrame, "the body is not JSON") }
            throw APIError(.badParameter, error.message)
        }
        if let validationError = schema.validationError(in: value) { throw APIError(.badParameter, validationError) }
        return value.members
    }

    /// Returns the values of the query items, by the names of the call's parameters; checks their structure and limits.
    ///
    /// - Throws: Status 400 with the name of the item that is unknown, missing, repeated or invalid.
    private static func query(of request: HTTPRequest, _ route: Route) throws(APIError) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        // Lists are kept apart from `values`, so that an element is added without a copy of its list.
        var lists: [String: [JSONValue]] = [:]
        for item in request.query {
            guard let declared = route.query.first(where: { $0.name == item.name }) else {
                throw APIError(.badParameter, "\(item.name.prefix(64)) is not known here")
            }
            if declared.isList {
                lists[declared.field, default: []].append(.text(item.value))
                continue
            }
            guard values[declared.field] == nil else {
                throw APIError(.badParameter, "\(declared.name) is named twice")
            }
            guard case .integer = declared.schema else {
                values[declared.field] = .text(item.value)
                continue
            }
            guard let number = Int64(item.value) else {
                throw APIError(.badParameter, "\(declared.name) is not a whole number in range")
            }
            values[declared.field] = .integer(number)
        }
        for (field, elements) in lists { values[field] = .array(elements) }
        for declared in route.query {
            guard let value = values[declared.field] else {
                if declared.isRequired { throw APIError(.badParameter, "\(declared.name) is missing") }
                continue
            }
            let validationError =
                declared.schema.validationError(in: value, at: declared.name)
                ?? declared.schema.limitError(in: value, at: declared.name)
            if let validationError { throw APIError(.badParameter, validationError) }
        }
        return values
    }
}
