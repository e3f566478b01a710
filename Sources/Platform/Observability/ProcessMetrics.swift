// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import MachineKit

extension MetricsRegistry {
    /// Exports the processor time, memory and start time of this process; must be called once, at the start.
    package func addProcessMetrics() {
        let startTime = WallClock.now
        self.observe(
            MetricNames.Process.cpu, help: "Processor time used, user and system.", kind: .counter
        ) { ProcessUsage.cpuSeconds }
        self.observe(MetricNames.Process.residentMemory, help: "Resident memory in bytes.") {
            ProcessUsage.residentBytes
        }
        self.observe(MetricNames.Process.startTime, help: "When the process started, in seconds since 1970.") {
            Double(startTime.milliseconds) / 1_000
        }
    }
}

/// The resources that this process has used.
package enum ProcessUsage {
    /// The processor time of all threads in seconds, user and system.
    package static var cpuSeconds: Double {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The resident memory in bytes.
    package static var residentBytes: Double {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        // The file is one line of seven numbers, so one call reads all of it.
        let text = unsafe [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            unsafe count = max(0, read(file, buffer.baseAddress, 255))
        }
        let fields = text.split(separator: UInt8(ascii: " "))
        // The second field is the number of resident pages.
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return Double(pages * sysconf(Int32(_SC_PAGESIZE)))
    }
}
