// SPDX-License-Identifier: Apache-2.0
import Gateway
import PlazaWire
import ServiceShell
import Settings
import Testing
import Webhooks

/// Sets each option of a gateway to values at which programs often break (I16).
struct SettingsBoundaryTests {
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

    /// Reads all settings; returns the options and the error.
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

    @Test func `I16 a value of any form is accepted, or refused with an error that names its option`() {
        let (options, _) = Self.read([])
        #expect(options.count > 40)
        var refusedCount = 0
        for option in options {
            for value in Self.values {
                guard let error = Self.read(["--\(option)=\(value)"]).error else { continue }
                guard case .invalid(_, let problems) = error else {
                    Issue.record("--\(option)=\(value.prefix(40)): \(error)")
                    continue
                }
                // A `--kafka-user` without `--kafka-security` is reported as a problem of the latter, for example.
                let problemsOfOption = problems.filter {
                    $0.key.contains(option) || $0.remedy.contains(option)
                        || option.hasPrefix("kafka-") && $0.key.contains("kafka-security")
                }
                // The test names no apps file, so that problem is always reported, too.
                let problemsBesideApps = problems.filter { !$0.key.contains("apps") }
                #expect(
                    problemsBesideApps.isEmpty || !problemsOfOption.isEmpty,
                    "--\(option)=\(value.prefix(40)): \(problems)")
                refusedCount += problemsBesideApps.isEmpty ? 0 : 1
            }
        }
        #expect(refusedCount > 1000, "many of the values are refused")
    }
}
