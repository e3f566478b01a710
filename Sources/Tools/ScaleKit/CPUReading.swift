// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Foundation

/// A reading of the processor time that the processes of a service have used, from `/proc`.
package struct CPUReading: Sendable {
    /// The seconds of processor time by process id.
    private let seconds: [Int32: Double]

    /// Reads the times of all instances of a service that run now.
    package init(_ kind: ServiceKind, in cluster: LocalCluster) {
        var seconds: [Int32: Double] = [:]
        for process in cluster.processes where process.kind == kind.rawValue {
            guard let pid = process.pid, let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            else { continue }
            seconds[pid] = Self.seconds(inStat: text)
        }
        self.seconds = seconds
    }

    /// The processor seconds that were used since an earlier reading by the processes that ran at both readings.
    package func seconds(since earlier: CPUReading) -> Double {
        self.seconds.reduce(0) { sum, entry in
            guard let before = earlier.seconds[entry.key] else { return sum }
            return sum + max(0, entry.value - before)
        }
    }

    /// The sum of user and system time in the text of a `/proc/PID/stat` file, in seconds; 0 if the text is malformed.
    ///
    /// The program's name may contain blanks and parentheses. So fields are counted from 0 after the last parenthesis:
    /// field 11 is the user time, and field 12 the system time.
    package static func seconds(inStat text: String) -> Double {
        guard let end = text.lastIndex(of: ")") else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Self.ticksPerSecond
    }

    /// Linux states processor time in hundredths of a second (USER_HZ) on all machines.
    private static let ticksPerSecond = 100.0
}
