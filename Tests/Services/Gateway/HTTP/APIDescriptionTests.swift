// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPServer
import PlazaModel
import PlazaWire
import Repository
import Testing

@testable import Gateway

/// The table of HTTP routes, which must agree with the OpenAPI description and with the documentation.
@Suite struct APIDescriptionTests {
    /// Returns the schema with all references resolved, so that it can validate a response.
    private func resolved(_ schema: Schema) -> Schema {
        switch schema {
        case .named(let name):
            guard let namedSchema = ResponseSchemas.all.first(where: { $0.name == name })?.schema else {
                Issue.record("there is no schema \(name)")
                return .anything
            }
            return self.resolved(namedSchema)
        case .list(let element, let range, let isUnique):
            return .list(of: self.resolved(element), range, isUnique: isUnique)
        case .map(let value, let range, let names): return .map(of: self.resolved(value), range, names: names)
        case .object(let fields):
            return .object(
                fields.map { field in
                    var field = field
                    field.schema = self.resolved(field.schema)
                    return field
                })
        case .either(let forms): return .either(forms.map { self.resolved($0) })
        case .boolean, .integer, .text, .choice, .anything: return schema
        }
    }

    /// Returns the kind and the schema of a route's result; nil if the route has no result.
    ///
    /// A result is an object with one member, whose name is the kind of the result.
    private func resultKind(_ route: Route) -> (name: String, schema: Schema)? {
        guard case .object(let fields) = route.success.result, let field = fields.first else { return nil }
        return (field.name, .object(fields))
    }

    /// Rules: R13.7, R13.16.
    @Test func `the response schemas describe every property of every result`() throws {
        // The golden file has an example of each kind of reply; it maps the example's name to the reply.
        let golden = try Repository.data("Tests/Model/PlazaWire/Golden/replies.json")
        let replies = try Wire.decode(JSONValue.self, from: [UInt8](golden))
        var coveredKinds: Set<String> = []
        for (name, reply) in replies.members.sorted(by: { $0.key < $1.key }) {
            guard let result = reply.members["outcome"]?.members["success"]?.members["result"],
                let kind = result.members.keys.first
            else { continue }
            for route in RouteTable.all {
                guard let resultKind = self.resultKind(route), resultKind.name == kind else { continue }
                coveredKinds.insert(kind)
                #expect(
                    self.resolved(resultKind.schema).validationError(in: result) == nil,
                    "the reply \(name) as the result of \(route.id)")
            }
        }
        let describedKinds = Set(RouteTable.all.compactMap { self.resultKind($0)?.name })
        #expect(coveredKinds == describedKinds, "the golden file contains each kind of result that a route has")
    }

    @Test func `each route has a name and path of its own, describes its path's parameters, and makes a known call`() {
        #expect(Set(RouteTable.all.map(\.id)).count == RouteTable.all.count)
        #expect(Set(RouteTable.all.map { "\($0.method) \($0.path)" }).count == RouteTable.all.count)
        for route in RouteTable.all {
            if let call = route.call { #expect(CallParser.methods.contains(call), "\(route.id)") }
            let placeholders = route.path.split(separator: "/").filter { $0.hasPrefix("{") }
            #expect(placeholders == route.parts.map { "{\($0.name)}" }, "\(route.id)")
            if route.method == .get || route.method == .delete { #expect(route.body == nil, "\(route.id)") }
        }
    }

    @Test func `the description contains every route, and each of its references names a schema`() throws {
        let document = try Wire.decode(JSONValue.self, from: OpenAPIDocument.bytes)
        let paths = document.members["paths"]?.members ?? [:]
        for route in RouteTable.all {
            let operation = paths[route.path]?.members[route.method.rawValue.lowercased()]
            #expect(operation?.members["operationId"] == .text(route.id))
            #expect(operation?.members["responses"]?.members["\(route.success.status)"] != nil)
        }
        let text = String(decoding: OpenAPIDocument.bytes, as: UTF8.self)
        let names = Set(ResponseSchemas.all.map(\.name))
        for textAfterPrefix in text.components(separatedBy: "#/components/schemas/").dropFirst() {
            let name = String(textAfterPrefix.prefix { $0 != "\"" })
            #expect(names.contains(name), "there is no schema \(name)")
        }
    }

    @Test func `the page about the HTTP API lists every route with its call, and marks those that any caller may use`()
        throws
    {
        let rows = try DocumentPage("HTTP-API").lines(under: "Routes")
        for route in RouteTable.all {
            let row = rows.first {
                $0.hasPrefix("| `\(route.method) \(route.path)`") || $0.hasPrefix("| `\(route.method) \(route.path)?")
            }
            // Only the route for a call by its name makes no fixed call; its row mentions `login`.
            #expect(row?.contains("`\(route.call ?? "login")`") == true, "\(route.method) \(route.path)")
            #expect(row?.hasSuffix("| any |") == (route.access == .anyone), "\(route.method) \(route.path)")
        }
    }

    /// Returns the rows of a table whose first cell is a number.
    ///
    /// `names` are the texts between backquotes in the second cell.
    private static func numberedRows(_ rows: [String]) -> [(number: Int, cellCount: Int, names: [String])] {
        rows.compactMap { row in
            let cells = row.split(separator: "|")
            guard row.hasPrefix("| "), cells.count > 1, let number = Int(cells[0].filter { $0 != " " }) else {
                return nil
            }
            // After a split at the backquotes, the texts between two backquotes have odd indices.
            let parts = cells[1].split(separator: "`", omittingEmptySubsequences: false)
            let names = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
            return (number, cells.count, names)
        }
    }

    @Test func `the page's table of statuses agrees with the statuses of all reply codes`() throws {
        var codes: [String: Int] = [:]
        for row in Self.numberedRows(try DocumentPage("PROTOCOL").lines(under: "Reply codes")) {
            #expect(row.cellCount == 3 && row.names.count == 1, "row \(row.number) has a code, a name and a meaning")
            codes[row.names.first ?? ""] = row.number
        }
        var statuses: [Int: Set<String>] = [:]
        for row in Self.numberedRows(try DocumentPage("HTTP-API").lines(under: "Statuses"))
        // Only the rows of error statuses name reply codes. They have two cells: the status, and when it is given.
        where row.cellCount == 2 && (HTTPStatus.errors.contains(row.number) || row.number == 500) {
            statuses[row.number, default: []].formUnion(row.names)
        }
        #expect(codes.count > 70 && statuses.count > 8, "both tables were found on the pages")
        for (name, code) in codes {
            let status = HTTPStatus.of(ReplyCode(code))
            // The rows of 400 and 409 describe their codes in words, without names.
            let isNamed = statuses[status]?.contains(name) == true || status == 400 || status == 409
            #expect(isNamed, "the row of status \(status) must name \(name)")
            for (otherStatus, names) in statuses where otherStatus != status {
                #expect(!names.contains(name), "the row of status \(otherStatus) must not name \(name)")
            }
        }
    }

    @Test(
        arguments: [
            (Schema.boolean, "1", "the body is not true or false"),
            (.integer(1...9), "\"1\"", "the body is not a whole number in range"),
            (.integer(1...9), "1.5", "the body is not a whole number in range"),
            (.text(1...9), "7", "the body is not a string"),
            (.choice(["a", "b"]), "\"c\"", "the body is not one of a, b"),
            (.list(of: .boolean, 1...2), "[true, 7]", "the body.1 is not true or false"),
            (.map(of: .boolean, 0...9), "{\"a\": 7}", "the body.a is not true or false"),
            (.anything, "[]", "the body is not an object"),
            (.object([.required("a", .boolean)]), "{}", "a is missing"),
            (.object([.required("a", .boolean)]), "{\"a\": 7}", "a is not true or false"),
            (.object([.optional("a", .boolean)]), "{\"b\": 7}", "b is not known here"),
            (.object([.optional("a", .boolean)]), "null", "the body is not an object"),
            (
                .either([.object([.required("a", .boolean)]), .object([.required("b", .boolean)])]), "{}",
                "the body is of none of the possible forms: a is missing; b is missing"
            ),
        ] as [(Schema, String, String)])
    func `a value of the wrong structure is rejected`(schema: Schema, json: String, validationError: String)
        throws
    {
        #expect(schema.validationError(in: try Wire.decode(JSONValue.self, from: Array(json.utf8))) == validationError)
    }

    @Test func `a value that conforms to its schema has no validation error`() throws {
        let schema = Schema.object([
            .required("a", .list(of: .integer(0...9), 0...3)), .optional("b", .map(of: .text(0...9), 0...3)),
            .optional("c", .choice(["x"])), .optional("d", .either([.object([.required("e", .boolean)])])),
        ])
        for json in [#"{"a":[]}"#, #"{"a":[1,2.0],"b":{"k":"v"},"c":"x","d":{"e":true}}"#] {
            #expect(
                schema.validationError(in: try Wire.decode(JSONValue.self, from: Array(json.utf8))) == nil, "\(json)")
        }
    }

    @Test(
        arguments: [
            (.integer(1...9), "10", "count is 10; 1 to 9 are possible"),
            (.integer(-1...9, but: 0), "0", "count is 0; -1 to 9 except 0 are possible"),
            (.integer(-1...9, but: 0), "10", "count is 10; -1 to 9 except 0 are possible"),
            (.text(1...2), "\"abc\"", "count has 3 characters; 1 to 2 are possible"),
            (.list(of: .boolean, 1...2), "[]", "count has 0 entries; 1 to 2 are possible"),
            (.list(of: .text(1...2), 1...2), "[\"a\", \"\"]", "count.1 has 0 characters; 1 to 2 are possible"),
        ] as [(Schema, String, String)])
    func `a query value of the right structure but beyond a limit is rejected`(
        schema: Schema, json: String, limitError: String
    ) throws {
        let value = try Wire.decode(JSONValue.self, from: Array(json.utf8))
        #expect(schema.limitError(in: value, at: "count") == limitError)
        #expect(
            schema.validationError(in: value) == nil,
            "for a body this check ignores limits, because the call itself checks them")
    }

    /// Returns a minimal valid value of a schema.
    private func minimalValue(_ schema: Schema) -> JSONValue {
        switch schema {
        case .boolean: true
        // Some schemas exclude the number 0 from their range, so the smallest number here is 1.
        case .integer(let range, _): .integer(max(1, range.lowerBound))
        case .text(let range, _): .text(String(repeating: "x", count: range.lowerBound))
        case .choice(let choices): .text(choices[0])
        case .list(let element, let range, _):
            .array(Array(repeating: self.minimalValue(element), count: range.lowerBound))
        case .map(let value, let range, _):
            .object(
                Dictionary(uniqueKeysWithValues: (0..<range.lowerBound).map { ("k\($0)", self.minimalValue(value)) }))
        case .object(let fields):
            .object(
                Dictionary(
                    uniqueKeysWithValues: fields.filter(\.isRequired).map { ($0.name, self.minimalValue($0.schema)) }))
        case .either(let forms): self.minimalValue(forms[0])
        case .anything, .named: [:]
        }
    }

    /// Returns values of the right structure, each of which breaks one limit.
    ///
    /// In each value, a number or a length is one beyond its range, or a number is 0 although its schema excludes 0.
    private func valuesBeyondLimits(_ schema: Schema) -> [JSONValue] {
        switch schema {
        case .boolean, .choice, .anything, .named: return []
        case .integer(let range, let excluded):
            var values: [JSONValue] = []
            if let excluded { values.append(.integer(excluded)) }
            if range.lowerBound > .min { values.append(.integer(range.lowerBound - 1)) }
            if range.upperBound < .max { values.append(.integer(range.upperBound + 1)) }
            return values
        case .text(let range, _):
            var values: [JSONValue] = range.lowerBound > 0 ? [""] : []
            if range.upperBound < .max { values.append(.text(String(repeating: "x", count: range.upperBound + 1))) }
            return values
        case .list(let element, let range, _):
            var values = self.valuesBeyondLimits(element).map { JSONValue.array([$0]) }
            if range.lowerBound > 0 { values.append([]) }
            if range.upperBound < .max {
                values.append(.array(Array(repeating: self.minimalValue(element), count: range.upperBound + 1)))
            }
            return values
        case .map(let value, let range, _):
            var values = self.valuesBeyondLimits(value).map { JSONValue.object(["k": $0]) }
            if range.lowerBound > 0 { values.append([:]) }
            if range.upperBound < .max {
                values.append(
                    .object(
                        Dictionary(
                            uniqueKeysWithValues: (0...range.upperBound).map { ("k\($0)", self.minimalValue(value)) })))
            }
            return values
        case .object(let fields):
            let members = self.minimalValue(schema).members
            return fields.flatMap { field in
                self.valuesBeyondLimits(field.schema).map { value in
                    .object(members.merging([field.name: value]) { $1 })
                }
            }
        case .either(let forms): return forms.flatMap { self.valuesBeyondLimits($0) }
        }
    }

    @Test func `a body beyond a limit passes its schema, so HTTP and WebSocket calls get the same error code`() {
        var valueCount = 0
        for route in RouteTable.all {
            guard let body = route.body else { continue }
            for value in self.valuesBeyondLimits(body) {
                valueCount += 1
                #expect(body.validationError(in: value) == nil, "\(route.id)")
            }
        }
        #expect(valueCount > 60, "the loop has found values: many bodies have limits")
    }

    @Test func `the OpenAPI description contains the limits of calls, as far as a JSON schema can express them`()
        throws
    {
        let paths = try Wire.decode(JSONValue.self, from: OpenAPIDocument.bytes).members["paths"]?.members ?? [:]
        /// The schema of a field in a route's body; `names` are the names of the nested objects and then of the field.
        func field(_ method: String, _ path: String, _ names: String...) -> [String: JSONValue] {
            var schema =
                paths[path]?.members[method]?.members["requestBody"]?.members["content"]?
                .members["application/json"]?.members["schema"]?.members ?? [:]
            for name in names { schema = (schema["properties"]?.members ?? schema)[name]?.members ?? [:] }
            return schema
        }
        #expect(field("post", "/v1/lives/{live}/messages", "text")["minLength"] == 1)
        #expect(field("post", "/v1/lives/{live}/custom-messages", "businessID")["minLength"] == 1)
        let metadata = field("patch", "/v1/lives/{live}/metadata", "metadata")
        #expect(metadata["minProperties"] == 1 && metadata["maxProperties"] == 10)
        #expect(
            metadata["propertyNames"] == [
                "type": "string", "minLength": 1, "maxLength": 50, "pattern": "^[^\\u0000-\\u001F\\u007F]*$",
            ])
        #expect(field("post", "/v1/lives/{live}/bans", "duration")["not"] == ["const": 0], "no ban lasts 0 s")
        #expect(field("post", "/v1/lives/{live}/mutes", "duration")["not"] == nil, "0 ends a mute")
        let languages = field("put", "/v1/app/gifts/{gift}", "translations")["propertyNames"]
        #expect(languages?.members["pattern"] == "^[A-Za-z0-9_-]{1,16}$")
        let noControlCharacters: JSONValue = #"^[^\u0000-\u001F\u007F]*$"#
        #expect(field("put", "/v1/app/words", "words", "items")["pattern"] == noControlCharacters)
        for name in ["name", "desc", "iconURL", "resourceURL", "extensionInfo"] {
            #expect(field("put", "/v1/app/gifts/{gift}", name)["pattern"] == noControlCharacters, "\(name)")
        }
        #expect(field("post", "/v1/lives/{live}/gifts", "receivers")["uniqueItems"] == true)
        #expect(field("patch", "/v1/lives/{live}", "maxMemberCount")["maximum"] == .integer(AppPolicy.largestAudience))
        #expect(
            field("put", "/v1/lives/{live}/guests/{user}", "seatIndex")["minimum"] == -1,
            "-1 stands for the lowest free seat")
    }
}
