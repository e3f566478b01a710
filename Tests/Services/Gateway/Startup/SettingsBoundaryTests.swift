// SPDX-License-Identifier: Apache-2.0
import Gateway
import PlazaWire
import ServiceShell
import Settings
import Testing
import Webhooks

/// The options of a gateway, each with values at which programs often break (I16 in docs/RULES.md).
struct SettingsBoundaryTests {
    /// Long, empty and invalid texts, numbers around the limits of their types, and malformed addresses and URLs.
    private static let values =
        [
            "", " ", "\u{1}", "\u{7f}", "e\u{301}", String(repeating: "😀", count: 50),
            String(repeating: "a", count: 70_000),
            String(repeating: "[", count: 500), "null", "true", "%00", "-", "--", "=", ",", ",,,", ":", "/", "..",
            "0", "-0", "1", "-1", "0.5", "1e308", "-1e308", "1e309", "nan", "inf", "0x10", "+1", "01",
            "2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993", "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616",
            "9223372036854775807ms", "9223372036854775807s", "9223372036854775807h", "106751991167300d", "-1s", "0s",
            "127.0.0.1:99999", "127.0.0.1:-1", "[::1]:0", "[::1", "host:", ":1", "0.0.0.0/33", "::/129", "1.2.3.4/-1",
            "http://", "https://[", "ws://a:99999", "https://é/",
        ]

    /// Reads all settings of a gateway from command-line arguments.
    ///
    /// Returns the names of all options, and the error that the arguments cause; nil if they are valid.
    private static func read(_ arguments: [String]) -> (options: [String], error: SettingsError?) {
        var reader = SettingsReader(program: "test", summary: "", arguments: arguments, environment: [:])
        _ = ServiceSettings(&reader, service: "gateway", backendRequests: .all)
        _ = AdmissionSettings(&reader)
        _ = PagesOptions(&reader)
        _ = WebhookSettings(&reader)
        let options = reader.effectiveSettings.map(\.name)
        do {
            try reader.finish()
            return (options, nil)
        } catch {
            return (options, error)
        }
    }

    @Test func `I16 a value of any form is accepted, or rejected with an error that names its option`() {
        let (options, _) = Self.read([])
        #expect(options.count > 40, "a gateway has many options")
        var rejectedCount = 0
        for option in options {
            for value in Self.values {
                guard let error = Self.read(["--\(option)=\(value)"]).error else { continue }
                guard case .invalid(_, let problems) = error else {
                    Issue.record("--\(option)=\(value.prefix(40)) causes an error of another kind: \(error)")
                    continue
                }
                // An option of Kafka may be reported under `kafka-security`, such as a `--kafka-user` without a
                // `--kafka-security`.
                let problemsOfOption = problems.filter {
                    $0.key.contains(option) || $0.remedy.contains(option)
                        || option.hasPrefix("kafka-") && $0.key.contains("kafka-security")
                }
                // Because this test gives no apps file, a missing apps file is always reported, too.
                let problemsBesideApps = problems.filter { !$0.key.contains("apps") }
                #expect(
                    problemsBesideApps.isEmpty || !problemsOfOption.isEmpty,
                    "no problem names the option of --\(option)=\(value.prefix(40)): \(problems)")
                rejectedCount += problemsBesideApps.isEmpty ? 0 : 1
            }
        }
        #expect(rejectedCount > 1000, "more than 1000 pairs of option and value are rejected")
    }
}
