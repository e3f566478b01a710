// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlazaModel
import ServiceShell
import StageCore

exit(
    ServiceHost.run(
        "cohost-battle", summary: "Coordinates seats, co-hosts from other lives, and battles.",
        build: { host in
            let seats = SeatMachine(policies: host.settings.policies)
            let connections = ConnectionMachine(policies: host.settings.policies)
            return [
                host.makeShell(
                    MachineSpec(
                        name: "seat", inbox: .seatInbox, state: .seatState, publicTopics: [.stages]
                    ) { context in MachineProcessor(seats, context) }),
                host.makeShell(
                    MachineSpec(name: "connection", inbox: .connectionInbox, state: .connectionState) { context in
                        MachineProcessor(connections, context)
                    }),
            ]
        }))
