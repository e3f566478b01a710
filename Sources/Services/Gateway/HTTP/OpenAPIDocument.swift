// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaWire

/// The API's OpenAPI 3.1 description, generated from the route table that serves it.
enum OpenAPIDocument {
    /// The document's JSON.
    static let bytes = Wire.encode(Self.document)

    /// The document.
    static let document: JSONValue = [
        "openapi": "3.1.0",
        "info": [
            "title": "LivePlaza", "version": "1.0.0",
            "description":
                "Lives, their audience, stage and messages, for an app's own server and for reads of clients.",
            "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
        ],
        "security": [["bearer": []]],
        "paths": Self.paths,
        "components": [
            "schemas": .object(
                Dictionary(uniqueKeysWithValues: ResponseSchemas.all.map { ($0.name, $0.schema.json(isOpen: true)) })),
            "securitySchemes": [
                "bearer": [
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description":
                        "A token of the app; its role must be server, unless the operation takes any valid token.",
                ]
            ],
        ],
    ]

    private static var paths: JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        for route in RouteTable.all {
            paths[route.path, default: [:]][route.method.rawValue.lowercased()] = Self.operation(route)
        }
        paths["/openapi.json"] = [
            "get": [
                "operationId": "getDescription", "tags": ["description"], "summary": "Gives this description.",
                "security": [],
                "responses": ["200": Self.response("The description.", ["type": "object"])],
            ]
        ]
        return .object(paths.mapValues { .object($0) })
    }

    private static func operation(_ route: Route) -> JSONValue {
        var operation: [String: JSONValue] = [
            "operationId": .text(route.id), "tags": [.text(route.tag)],
            "summary": .text(route.summary),
            "responses": Self.responses(route),
        ]
        if case .anyone = route.access { operation["description"] = "Any valid token will do." }
        let parameters = Self.parameters(route)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let body = route.body {
            operation["requestBody"] = [
                "required": .bool(route.isBodyRequired),
                "content": ["application/json": ["schema": body.json(isOpen: false)]],
            ]
        }
        return .object(operation)
    }

    private static func parameters(_ route: Route) -> [JSONValue] {
        var parameters: [JSONValue] = route.parts.map { part in
            [
                "name": .text(part.name), "in": "path", "required": true, "description": .text(part.summary),
                "schema": part.schema.json(isOpen: false),
            ]
        }
        parameters += route.query.map { item in
            [
                "name": .text(item.name), "in": "query", "required": .bool(item.isRequired),
                "description": .text(item.summary), "schema": item.schema.json(isOpen: false),
            ]
        }
        if route.method != .get {
            parameters.append([
                "name": "Idempotency-Key", "in": "header", "required": false,
                "description": .text(Self.idempotencyKeyDescription),
                "schema": ["type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]{1,128}$"],
            ])
        }
        return parameters
    }

    private static let idempotencyKeyDescription =
        "Requests with the same key within 60 s count as one request, and get the same answer. A repetition also has "
        + "the header Idempotency-Age, the milliseconds since the request was first sent. After more than 60 s the "
        + "repetition is not applied."

    private static func responses(_ route: Route) -> JSONValue {
        let result = Schema.object([.required("result", route.success.result)]).json(isOpen: true)
        var responses: [String: JSONValue] = ["\(route.success.status)": Self.response("Done.", result)]
        for status in HTTPStatus.errors {
            // 410 is for an expired cursor, which only the call `live.list` can have. The route whose `call` is nil can
            // make any call, including `live.list`.
            let isAboutCursor = status == 410
            let isAboutBody = status == 413 || status == 415
            if isAboutCursor && route.call != "live.list" && route.call != nil { continue }
            if isAboutBody && route.body == nil { continue }
            responses["\(status)"] = Self.response(
                Self.statusDescriptions[status] ?? "Refused.", ["$ref": "#/components/schemas/Error"])
        }
        // These requests are rejected before their headers are parsed, so the body is not JSON.
        responses["414"] = ["description": "The request line is too long; the body is not JSON."]
        responses["431"] = ["description": "The headers are too large; the body may not be JSON."]
        return .object(responses)
    }

    private static func response(_ description: String, _ schema: JSONValue) -> JSONValue {
        ["description": .text(description), "content": ["application/json": ["schema": schema]]]
    }

    /// The descriptions of the error statuses.
    private static let statusDescriptions: [Int: String] = [
        400: "The request is malformed, or exceeds a limit.", 401: "The token is missing, invalid or expired.",
        403: "The token does not allow this.", 404: "What the request names does not exist.",
        409: "The current state does not allow this.", 410: "The cursor has expired; list again from the first page.",
        413: "The body is too large.", 415: "The body is not JSON.",
        429: "Too many requests; try again after Retry-After seconds.",
        503: "Overloaded; try again after Retry-After seconds.", 504: "No answer in time; send the same request again.",
    ]
}
