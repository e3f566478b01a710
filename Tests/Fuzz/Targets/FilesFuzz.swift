// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire
internal import Tokens

/// The apps file, which an operator writes: policies, webhooks and keys.
public enum FilesFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        let errors = AppsDocument.validationErrors(in: input)
        if let document = try? AppsDocument(json: input), errors.isEmpty {
            for (_, app) in document.apps {
                guard let policy = app.policy else { continue }
                precondition((1...10_000).contains(policy.feedBudget), "a policy outside its range was accepted")
            }
        }
        _ = try? AppKeyring(json: input)
    }
}
