// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlazaModel
import ServiceShell
import StageCore

exit(
    ServiceHost.run(
        "cohost-battle", summary: "Coordinates seats, co-hosts from other lives, and battles.",
        build: { host in
            let seatMachine = SeatMachine(policies: host.settings.policies)
            let connectionMachine = ConnectionMachine(policies: host.settings.policies)
            // Each machine has its own shell: the loop that consumes its inbox and commits what it decides.
            return [
                host.makeShell(
                    MachineSpec(
                        name: "seat", inbox: .seatInbox, state: .seatState, publicTopics: [.stages]
                    ) { context in MachineProcessor(seatMachine, context) }),
                host.makeShell(
                    MachineSpec(name: "connection", inbox: .connectionInbox, state: .connectionState) { context in
                        MachineProcessor(connectionMachine, context)
                    }),
            ]
        }))
