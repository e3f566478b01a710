// SPDX-License-Identifier: Apache-2.0
internal import EventLoop

/// The part of a `ClientHub` that runs on its event loop: it carries out the commands of all clients.
final class HubLoop {
    private let group: PlazaConnectionGroup
    /// The drivers of the clients that run, by client id.
    private var drivers: [UInt64: ClientDriver] = [:]

    init(_ loop: EventLoop) throws(LoopError) { self.group = try PlazaConnectionGroup(loop: loop) }

    func perform(_ command: HubCommand) {
        let id = command.client
        switch command.action {
        case .start(let addresses, let options, let updates):
            // The id is random, so it can serve as the seed.
            let connection = PlazaConnection(group: self.group, addresses: addresses, options: options, seed: id)
            let driver = ClientDriver(connection, updates)
            self.drivers[id] = driver
            connection.delegate = driver
            connection.start()
        case .call(let call):
            guard let driver = self.drivers[id] else { return call.caller.resume(returning: .clientStopped) }
            driver.perform(call)
        case .stop:
            self.drivers[id]?.stop()
            self.drivers[id] = nil
        }
    }
}
