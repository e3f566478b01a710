// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import Foundation
import PlazaWire
import Repository
import Testing

/// A case of clients/conformance; the README there describes the files.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    /// By method, the result with which the server answers a call at once.
    let answers: [String: JSONValue]
    /// The steps of the case's setup, then the case's own steps.
    let steps: [JSONValue]
    /// How many of the steps belong to the setup.
    let setupStepCount: Int

    /// The user in the first reply to a login; `carol` if the case has no login.
    var userID: String {
        for step in self.steps {
            let reply = step.members["reply"]?.members["result"]?.members["loggedIn"]
            if case .text(let user)? = reply?.members["user"]?.members["userID"] { return user }
        }
        return "carol"
    }

    var testDescription: String { "\(self.file): \(self.name)" }

    /// All cases of all files.
    static func all() throws -> [ConformanceCase] {
        let folder = Repository.root.appending(path: "clients/conformance")
        let setups = try Self.readJSON("setups.json").members
        let fileNames = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") && $0 != "setups.json" && $0 != SessionFile.name }.sorted()
        return try fileNames.flatMap { fileName in
            try Self.list(Self.readJSON(fileName).members["cases"])
                .map { try ConformanceCase($0.members, fileName, setups) }
        }
    }

    private init(_ members: [String: JSONValue], _ file: String, _ setups: [String: JSONValue]) throws {
        var setup: [String: JSONValue] = [:]
        if case .text(let name)? = members["setup"] { setup = try #require(setups[name]).members }
        guard case .text(let name)? = members["name"] else { throw CaseFailure("a case without a name in \(file)") }
        self.file = file
        self.name = name
        let answers = setup["answers"]?.members ?? [:]
        self.answers = answers.merging(members["answers"]?.members ?? [:]) { _, caseAnswer in caseAnswer }
        let setupSteps = try setup["steps"].map(Self.list) ?? []
        self.steps = setupSteps + (try Self.list(members["steps"]))
        self.setupStepCount = setupSteps.count
    }

    private static func readJSON(_ fileName: String) throws -> JSONValue {
        try Wire.decode(from: [UInt8](Repository.data("clients/conformance/\(fileName)")))
    }

    /// The entries of an array that is not empty.
    private static func list(_ value: JSONValue?) throws -> [JSONValue] {
        guard case .array(let values)? = value, !values.isEmpty else {
            throw CaseFailure("no cases or steps: \(String(describing: value))")
        }
        return values
    }
}

/// Runs the conformance cases, which all SDKs share, with the Swift client.
@Suite struct ConformanceTests {
    @Test func `more than a hundred conformance cases are found`() throws {
        #expect(try ConformanceCase.all().count > 100)
    }

    @Test(arguments: try ConformanceCase.all())
    func `the client passes each step of a conformance case`(testCase: ConformanceCase) throws {
        let run = CaseRun(answers: testCase.answers, userID: testCase.userID)
        for (index, step) in testCase.steps.enumerated() {
            do {
                try run.runStep(step)
            } catch {
                // Steps of the setup get negative numbers, and the case's own steps are numbered from 0.
                let number = index - testCase.setupStepCount
                let text = String(decoding: Wire.encode(step), as: UTF8.self)
                Issue.record("step \(number) \(text.prefix(300)): \(error)")
                break
            }
        }
        run.end()
    }
}
