// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import MachineKit

/// The time of day, for people; no decision of a machine depends on it.
package enum WallClock {
    /// The current time.
    package static var now: WallTime { WallTime(milliseconds: Self.nanoseconds() / 1_000_000) }

    /// Nanoseconds since 1970, for the times of spans.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// A time of day as text in the format of RFC 3339, in UTC and with milliseconds.
    package static func text(of time: WallTime) -> String {
        let (days, millisecondOfDay) = time.milliseconds.flooredDivision(by: 86_400_000)
        // Howard Hinnant's algorithm computes the date from the number of the day. Its years begin in March, so that
        // the leap day is the last day of a year. It counts days from 1 March of year 0, which is 719,468 days before
        // 1970; an era is 400 years or 146,097 days. The leap days (one in 4 years, but none in 100, but one in 400)
        // are taken out, so that all years have 365 days. Five months from March have 153 days.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
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
    /// Division whose remainder is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = ((self % divisor) + divisor) % divisor
        return ((self - remainder) / divisor, remainder)
    }
}
