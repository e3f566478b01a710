// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import PlazaWire
internal import Repository

/// The file clients/conformance/sessions.json; the README there describes it.
package struct SessionFile: Sendable {
    /// The name of the file in clients/conformance.
    package static let name = "sessions.json"

    package let sessions: [ConformanceSession]
    /// The methods of stores that no session calls, as `store.method`; `store.*` stands for all methods of a store.
    package let uncalledMethods: [String]

    /// Reads the file.
    ///
    /// - Throws: an error if the file cannot be read, or has no sessions.
    package init() throws {
        let file: JSONValue = try Wire.decode(from: [UInt8](Repository.data("clients/conformance/\(Self.name)")))
        self.sessions = try CaseParams(value: file).values("sessions").map(ConformanceSession.init)
        self.uncalledMethods = try CaseParams(value: file).values("uncalled").map { entry in
            let params = CaseParams(value: entry)
            guard !params.text("reason").isEmpty else { throw CaseFailure("no reason for \(entry)") }
            return "\(params.text("store")).\(params.text("method"))"
        }
    }
}

/// A session of one user, the user under test, whose connection is cut.
package struct ConformanceSession: Sendable {
    /// What the user does.
    package let name: String
    /// The name of the user under test.
    package let user: String
    /// The name of the live whose stores the user has.
    let live: String
    /// The numbers of frames after which a cut comes; the session is played once with each.
    package let framesBeforeCut: [Int]
    let steps: [JSONValue]

    fileprivate init(_ value: JSONValue) throws {
        let params = CaseParams(value: value)
        (self.name, self.user, self.live) = (params.text("name"), params.text("user"), params.text("live"))
        guard !self.name.isEmpty, !self.user.isEmpty, !self.live.isEmpty else {
            throw CaseFailure("a session without its name, user or live")
        }
        self.framesBeforeCut = try params.values("framesBeforeCut").map { count in
            guard case .integer(let number) = count, number >= 0 else { throw CaseFailure("no frame count: \(count)") }
            return Int(number)
        }
        self.steps = try params.values("steps")
    }

    /// The methods of stores that the user under test calls, as `store.method`.
    package var calledMethods: Set<String> { Self.calledMethods(in: self.steps) }

    private static func calledMethods(in steps: [JSONValue]) -> Set<String> {
        var methods: Set<String> = []
        for step in steps {
            if let call = step.members["call"] {
                let params = CaseParams(value: call)
                methods.insert("\(params.text("store")).\(params.text("method"))")
            }
            if case .array(let innerSteps)? = step.members["cut"]?.members["steps"] {
                methods.formUnion(Self.calledMethods(in: innerSteps))
            }
        }
        return methods
    }
}
