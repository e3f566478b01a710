// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension MetricsRegistry {
    /// Exports processor time, memory and start of this process; call it once at start.
    package func addProcessMetrics() {
        let start = WallClock.milliseconds()
        self.observe(
            MetricNames.Process.cpu, help: "Processor time used, user and system.", kind: .counter
        ) { ProcessUsage.cpuSeconds }
        self.observe(MetricNames.Process.residentMemory, help: "Resident memory in bytes.") {
            ProcessUsage.residentBytes
        }
        self.observe(MetricNames.Process.startTime, help: "When the process started, in seconds since 1970.") {
            Double(start) / 1_000
        }
    }
}

/// What this process has used of the machine.
package enum ProcessUsage {
    /// Processor time, user and system, of all threads.
    package static var cpuSeconds: Double {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Resident memory in bytes.
    package static var residentBytes: Double {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let text = unsafe [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            unsafe count = max(0, read(file, buffer.baseAddress, 255))
        }
        let fields = text.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return Double(pages * sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The time of day, for what people read; decisions never use it.
package enum WallClock {
    /// Milliseconds since 1970.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// A time of day as RFC 3339 has it, in UTC with milliseconds.
    package static func text(milliseconds: Int64) -> String {
        let (days, millisecondOfDay) = milliseconds.flooredDivision(by: 86_400_000)
        // Civil date from a day number, by Howard Hinnant's algorithm: years begin in March, so leap days come last.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let second = millisecondOfDay / 1_000
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        return "\(date)T\(time).\(padded(millisecondOfDay % 1_000, 3))Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = number.description
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = ((self % divisor) + divisor) % divisor
        return ((self - remainder) / divisor, remainder)
    }
}
