// SPDX-License-Identifier: Apache-2.0
internal import EventLoop

/// An event loop on its own thread, for any number of clients.
package final class ClientHub: Sendable {
    /// The commands that wait for the event loop; while 100,000 wait, further commands are rejected.
    let commands = Mailbox<HubCommand>(capacity: 100_000)
    private let thread: LoopThread

    /// Starts the thread.
    ///
    /// - Throws: `LoopError` when the system has no thread or descriptor left.
    package init(name: String = "plaza-clients") throws {
        let commands = self.commands
        // The closure returns `true`, which is not needed: only the variant of `start` whose closure has a result also
        // throws the closure's errors.
        (self.thread, _) = try EventLoop.start(name: name) { (loop) throws(LoopError) -> Bool in
            let hub = try HubLoop(loop)
            try commands.attach(to: loop) { batch in
                for command in batch { hub.perform(command) }
            }
            return true
        }
    }

    deinit { self.thread.stop() }

    /// Ends all clients and the thread.
    package func stop() {
        self.thread.stop()
        self.thread.join()
    }

    /// Creates a client, which begins to connect.
    ///
    /// - Parameters:
    ///   - addresses: the gateways; each reconnect tries the next address.
    ///   - options: the client's token, session and limits.
    ///   - limit: the maximum number of queued updates; if the consumer is too slow, the oldest updates are dropped.
    /// - Returns: the client; it ends when nobody refers to it any more.
    package func client(
        addresses: [PlazaAddress], options: BareClientCore.Options, updates limit: Int = 10_000
    ) -> PlazaClient {
        let updates = UpdateQueue(limit: limit)
        let client = PlazaClient(self, UInt64.random(in: .min ... .max), updates)
        let start = HubCommand(client: client.id, .start(addresses, options, updates))
        // If too many commands wait, the start is rejected, and the client ends at once.
        if (try? self.commands.post(start)) == nil { updates.end() }
        return client
    }
}
