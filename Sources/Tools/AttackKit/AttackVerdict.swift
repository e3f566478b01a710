// SPDX-License-Identifier: Apache-2.0

/// The verdict on an attack: whether the cluster withstood it.
package struct AttackVerdict: Equatable, Sendable {
    /// The criteria that failed, one sentence each.
    package let failures: [String]

    package var isPassed: Bool { self.failures.isEmpty }

    /// Judges the measurements.
    ///
    /// - Parameters:
    ///   - measured: the measurement of the attack.
    ///   - baseline: what honest clients saw without an attack.
    package init(_ measured: AttackMeasurement, baseline: HonestResult) {
        let honest = measured.honest
        var failures: [String] = []
        func require(_ isTrue: Bool, _ failure: @autoclosure () -> String) { if !isTrue { failures.append(failure()) } }

        require(measured.tally.writes > 0, "The attack sent nothing, so it shows nothing.")
        let limit = Self.p99Limit(baseline)
        require(honest.p99 <= limit, "p99 is \(Int(honest.p99)) ms, more than \(Int(limit)) ms.")
        require(honest.missing == 0, "\(honest.missing) acknowledged items are missing.")
        require(honest.disordered == 0, "\(honest.disordered) items are repeated, reordered or misplaced.")
        require(
            honest.published > 0 && Double(honest.admitted) >= Self.minAdmitted * Double(honest.published),
            "Only \(honest.admitted) of \(honest.published) honest messages were admitted.")
        require(honest.reconnects == 0, "Honest clients lost their connections \(honest.reconnects) times.")
        failures += honest.failures
        for (name, gateway) in measured.gateways.sorted(by: { $0.key < $1.key }) {
            let limit = Self.memoryLimit(connections: measured.tally.maxOpen) + Double(measured.allowedBytes)
            failures += Self.failures(name, gateway, memoryLimit: limit)
        }
        let http = measured.http
        require(
            Double(http.answered) >= Self.minHTTPAnswered * Double(http.asked),
            "Only \(http.answered) of \(http.asked) honest HTTP requests were answered in time.")
        let partitions = measured.partitions
        require(
            partitions.asked > 0 && partitions.answered == partitions.asked,
            "Only \(partitions.answered) of \(partitions.asked) partitions of the directory made a live.")
        self.failures = failures
    }

    /// The criteria that one gateway failed; its memory may grow by `limit` bytes.
    private static func failures(_ name: String, _ gateway: GatewayChange, memoryLimit limit: Double) -> [String] {
        guard let before = gateway.before else { return ["\(name) did not answer before the attack."] }
        guard let after = gateway.after else { return ["\(name) does not answer any more."] }
        if after.startTime != before.startTime { return ["\(name) ended and was started again."] }
        let growth = gateway.maxBytes - before.residentBytes
        if growth <= limit { return [] }
        let mebibyte = Double(1 << 20)
        return ["\(name) grew by \(Int(growth / mebibyte)) MiB, more than \(Int(limit / mebibyte)) MiB."]
    }

    /// The largest p99 that passes, in milliseconds: twice the baseline's p99, but at least `noiseMilliseconds`.
    ///
    /// A small baseline needs this minimum, because on one machine scheduling alone changes a p99 by several
    /// milliseconds.
    static func p99Limit(_ baseline: HonestResult) -> Double { max(2 * baseline.p99, Self.noiseMilliseconds) }

    /// The maximum growth of a gateway's resident memory during an attack, in bytes.
    ///
    /// An attack's `allowedBytes` are added to it.
    ///
    /// - Parameter connections: the maximum number of connections that the attack had open at once.
    /// - Returns: `baseBytes`, and `bytesPerConnection` for each connection.
    static func memoryLimit(connections: Int) -> Double {
        Double(Self.baseBytes + connections * Self.bytesPerConnection)
    }

    /// A p99 of at most this many milliseconds always passes.
    static let noiseMilliseconds = 50.0
    /// The growth by code and buffers that are used for the first time: 64 MiB.
    static let baseBytes = 64 << 20
    /// The growth by one connection: 16 KiB of input before its login, and 8 KiB of state.
    static let bytesPerConnection = 24 << 10
    /// The share of honest messages that must be admitted.
    static let minAdmitted = 0.9
    /// The share of honest HTTP requests that must be answered in time.
    static let minHTTPAnswered = 0.5
}
