// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import GatewayCore
import HTTPServer
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// The table of routes, and the description that is made from it.
@Suite struct APIDescriptionTests {
    /// The form with all names looked up, so that it can check an answer.
    private func resolved(_ schema: Schema) -> Schema {
        switch schema {
        case .named(let name):
            guard let form = AnswerForms.all.first(where: { $0.name == name })?.form else {
                Issue.record("there is no form \(name)")
                return .anything
            }
            return self.resolved(form)
        case .list(let form, let range): return .list(of: self.resolved(form), range)
        case .map(let form, let most): return .map(of: self.resolved(form), most: most)
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

    /// The kind of result that a route answers with.
    private func kind(_ route: Route) -> (name: String, form: Schema)? {
        guard case .object(let fields) = route.success.result, let field = fields.first else { return nil }
        return (field.name, .object(fields))
    }

    @Test func `what answers hold is described whole`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "PlazaWireTests/Golden/replies.json")
        let replies = try Wire.decode(JSONValue.self, from: [UInt8](try Data(contentsOf: file)))
        var seen: Set<String> = []
        for (name, reply) in replies.members.sorted(by: { $0.key < $1.key }) {
            guard let result = reply.members["outcome"]?.members["success"]?.members["result"],
                let kind = result.members.keys.first
            else { continue }
            for route in RouteTable.all {
                guard let known = self.kind(route), known.name == kind else { continue }
                seen.insert(kind)
                #expect(self.resolved(known.form).fault(in: result) == nil, "\(name) as \(route.id) answers it")
            }
        }
        let described = Set(RouteTable.all.compactMap { self.kind($0)?.name })
        #expect(seen == described, "each kind of answer stands in the golden file")
    }

    @Test func `every route makes a call that there is, and has a name of its own`() {
        #expect(Set(RouteTable.all.map(\.id)).count == RouteTable.all.count)
        #expect(Set(RouteTable.all.map { "\($0.method) \($0.path)" }).count == RouteTable.all.count)
        for route in RouteTable.all {
            if let call = route.call { #expect(CallParser.methods.contains(call), "\(route.id)") }
            let named = route.path.split(separator: "/").filter { $0.hasPrefix("{") }
            #expect(named == route.parts.map { "{\($0.name)}" }, "\(route.id)")
            #expect(route.body == nil || route.method != .get && route.method != .delete, "\(route.id)")
        }
    }

    @Test func `the description speaks of every route, and every name in it is one`() throws {
        let document = try Wire.decode(JSONValue.self, from: OpenAPIDocument.bytes)
        let paths = document.members["paths"]?.members ?? [:]
        for route in RouteTable.all {
            let operation = paths[route.path]?.members[route.method.rawValue.lowercased()]
            #expect(operation?.members["operationId"] == .text(route.id))
            #expect(operation?.members["responses"]?.members["\(route.success.status)"] != nil)
        }
        let text = String(decoding: OpenAPIDocument.bytes, as: UTF8.self)
        let names = Set(AnswerForms.all.map(\.name))
        for part in text.components(separatedBy: "#/components/schemas/").dropFirst() {
            #expect(names.contains(String(part.prefix { $0 != "\"" })))
        }
    }

    @Test func `the protocol's document names every route`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/PROTOCOL.md")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        for route in RouteTable.all {
            let row = text.split(separator: "\n").first {
                $0.hasPrefix("| `\(route.method) \(route.path)`") || $0.hasPrefix("| `\(route.method) \(route.path)?")
            }
            #expect(row?.contains("`\(route.call ?? "login")`") == true, "\(route.method) \(route.path)")
            #expect(row?.hasSuffix("| any |") == (route.access == .anyone), "\(route.method) \(route.path)")
        }
    }

    @Test func `the protocol's table of statuses is the one that answers follow`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/PROTOCOL.md")
        var codes: [String: Int] = [:]
        var statuses: [Int: Set<String>] = [:]
        for line in String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n") {
            let cells = line.split(separator: "|")
            guard line.hasPrefix("| "), cells.count > 1, let number = Int(cells[0].filter { $0 != " " })
            else { continue }
            // What stands between backquotes: every second piece.
            let pieces = cells[1].split(separator: "`", omittingEmptySubsequences: false)
            let names = pieces.indices.filter { $0 % 2 == 1 }.map { String(pieces[$0]) }
            if cells.count == 3, names.count == 1 { codes[names[0]] = number }
            if cells.count == 2, HTTPStatus.refusals.contains(number) || number == 500 {
                statuses[number, default: []].formUnion(names)
            }
        }
        #expect(codes.count > 70 && statuses.count > 8)
        for (name, code) in codes {
            let status = HTTPStatus.of(ReplyCode(code))
            // The rows of 400 and 409 tell in words what they hold.
            let isNamed = statuses[status]?.contains(name) == true || status == 400 || status == 409
            #expect(isNamed, "\(status) \(name)")
            for (other, names) in statuses where other != status { #expect(!names.contains(name), "\(other) \(name)") }
        }
    }

    @Test(
        arguments: [
            (Schema.boolean, "1", "the body is not true or false"),
            (.integer(1...9), "10", "the body is 10; 1 to 9 are possible"),
            (.integer(1...9), "\"1\"", "the body is not a whole number in range"),
            (.integer(1...9), "1.5", "the body is not a whole number in range"),
            (.text(1...9), "7", "the body is not a string"),
            (.choice(["a", "b"]), "\"c\"", "the body is not one of a, b"),
            (.list(of: .boolean, 1...2), "[]", "the body has 0 entries; 1 to 2 are possible"),
            (.list(of: .boolean, 1...2), "[true, 7]", "the body.1 is not true or false"),
            (.map(of: .boolean, most: 9), "{\"a\": 7}", "the body.a is not true or false"),
            (.anything, "[]", "the body is not an object"),
            (.object([.needed("a", .boolean)]), "{}", "a is missing"),
            (.object([.needed("a", .boolean)]), "{\"a\": 7}", "a is not true or false"),
            (.object([.optional("a", .boolean)]), "{\"b\": 7}", "b is not known here"),
            (.object([.optional("a", .boolean)]), "null", "the body is not an object"),
            (
                .either([.object([.needed("a", .boolean)]), .object([.needed("b", .boolean)])]), "{}",
                "the body is of none of the possible forms: a is missing; b is missing"
            ),
        ] as [(Schema, String, String)])
    func `a value of another form is told what is wrong with it`(schema: Schema, json: String, fault: String) throws {
        #expect(schema.fault(in: try Wire.decode(JSONValue.self, from: Array(json.utf8))) == fault)
    }

    @Test func `a value of the form has no fault`() throws {
        let schema = Schema.object([
            .needed("a", .list(of: .integer(0...9), 0...3)), .optional("b", .map(of: .text(0...9), most: 3)),
            .optional("c", .choice(["x"])), .optional("d", .either([.object([.needed("e", .boolean)])])),
        ])
        for json in [#"{"a":[]}"#, #"{"a":[1,2.0],"b":{"k":"v"},"c":"x","d":{"e":true}}"#] {
            #expect(schema.fault(in: try Wire.decode(JSONValue.self, from: Array(json.utf8))) == nil, "\(json)")
        }
    }
}
