// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import LoadKit
internal import ProtocolClient

/// Changes of the number of instances under load.
extension ScaleRunner {
    /// The result of adding or removing instances: the new instances, the moves of partitions, and the owners now.
    private struct ResizeResult {
        var newInstances: [String] = []
        var moves: [PartitionMoves] = []
        var owners = PartitionOwners([])
    }

    /// Adds or removes instances, while messages and the calls of the load are sent.
    ///
    /// - Parameters:
    ///   - count: the number of instances afterwards; messages and calls are also sent if the number stays the same.
    ///   - addedInstances: the instances that were added to the first one, the newest last.
    ///   - load: the kind of work.
    ///   - plan: the parameters of the test.
    ///   - cluster: the cluster.
    /// - Returns: what was seen.
    /// - Throws: the reason why an instance could not be started, or why the load could not run.
    static func change(
        to count: Int, _ addedInstances: inout [String], _ load: ScaleLoad, _ plan: ScalePlan, _ cluster: LocalCluster
    ) async throws -> ScaleChange {
        let before = 1 + addedInstances.count
        let name = "\(plan.name)-\(load.shortName)\(before)-\(count)"
        let calls = try await CallLoad(
            load, lives: plan.lives(of: load), apps: plan.apps(of: load), addresses: Self.addresses(cluster),
            name: "\(name)c", token: plan.token)
        defer { calls.stop() }
        let calling = Task { await calls.run(every: plan.intervalDuringChanges) }
        defer { calling.cancel() }
        let surplus = Array(addedInstances.suffix(max(0, before - count)))
        let messages = Self.messages(name, changes: abs(count - before), plan, cluster)
        let (report, resized, isCovered) = try await Self.send(messages) { () async throws -> ResizeResult in
            try await Self.resize(load.service, cluster, adding: max(0, count - before), removing: surplus)
        }
        calling.cancel()
        await calling.value
        addedInstances.removeLast(surplus.count)
        addedInstances += resized.newInstances

        var change = ScaleChange(from: before, to: count)
        change.add(report)
        change.findings += ScaleChange.rejections(calls.rejectedCounts, of: "calls")
        change.findings += await calls.findLostCalls().map { ScaleFinding(.loss, $0) }
        change.spreads = resized.owners.spreads(of: cluster.options.partitions)
        change.moves = resized.moves
        change.requireEvidence(of: load, isCovered: isCovered)
        return change
    }

    /// The messages that are sent during a change.
    ///
    /// `name` is a part of the names of users, which have at most 32 bytes, so it must be short.
    private static func messages(_ name: String, changes: Int, _ plan: ScalePlan, _ cluster: LocalCluster) -> LoadPlan {
        var messages = LoadPlan(addresses: Self.addresses(cluster), name: name) { plan.token(AppsFile.demoApp, $0) }
        // At 20 messages a second in each live, the time between two messages of a live is 50 ms: a tenth of
        // `ScalePromise.maxPauseMilliseconds`.
        (messages.lives, messages.viewers, messages.rate) = (8, 8, 20)
        // All viewers of a live compare their messages. They are distributed among the gateways, so they compare what
        // all gateways send.
        messages.comparedViewers = messages.viewers
        // Messages are sent for 6 s, and 8 s more for each instance that is added or removed: a new instance needs some
        // seconds until it is ready and has its partitions.
        messages.duration = .seconds(6 + 8 * changes)
        return messages
    }

    /// Sends messages, and performs `change` two seconds after the first message.
    ///
    /// - Returns: the results of the messages and of `change`, and whether messages were sent until `change` had ended.
    private static func send(
        _ messages: LoadPlan, change: () async throws -> ResizeResult
    ) async throws -> (report: LoadReport, resized: ResizeResult, isCovered: Bool) {
        let stage = Locked(LoadProgress.Stage.opening)
        // The stream has no elements. It ends two seconds after the first message, or when the load ends earlier.
        let (untilSending, sendingBegan) = AsyncStream.makeStream(of: Void.self)
        let run = Task {
            defer { sendingBegan.finish() }
            return try await LoadRunner.run(messages) { progress in
                stage.withLock { $0 = progress.stage }
                if progress.stage == .sending, progress.elapsed >= .seconds(2) { sendingBegan.finish() }
            }
        }
        for await _ in untilSending {}
        let resized: ResizeResult
        do {
            resized = try await change()
        } catch {
            run.cancel()
            throw error
        }
        let isCovered = stage.withLock { $0 } == .sending
        return (try await run.value, resized, isCovered)
    }

    /// Adds instances of a service, or removes some, one by one, and waits each time until the partitions are spread.
    private static func resize(
        _ kind: ServiceKind, _ cluster: LocalCluster, adding addedCount: Int, removing names: [String]
    ) async throws -> ResizeResult {
        // A gateway owns no partitions.
        func owners() async -> PartitionOwners {
            if kind == .gateway { return PartitionOwners([]) }
            return await PartitionOwners.waitUntilEven(kind, in: cluster)
        }
        var result = ResizeResult()
        try await cluster.waitUntilReady(within: .seconds(60))
        result.owners = await owners()
        // A consumer that has just joined its group can join again only after a second. If a second instance joined the
        // group within that time, the rebalance would have to wait for the first instance. So instances are added one
        // by one.
        for _ in 0..<addedCount {
            let name = try cluster.add(kind)
            try await cluster.waitUntilReady(within: .seconds(60))
            let earlier = result.owners
            result.owners = await owners()
            result.moves += result.owners.moves(
                since: earlier, newcomer: name, of: cluster.options.partitions)
            result.newInstances.append(name)
        }
        for name in names.reversed() {
            try await cluster.remove(name)
            result.owners = await owners()
        }
        return result
    }
}
