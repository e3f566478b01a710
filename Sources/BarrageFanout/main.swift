// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import Glibc
import PlazaModel
import ServiceShell

exit(
    ServiceHost.run(
        "barrage-fanout", summary: "Writes each live's one ordered feed: barrage, control messages, tips.",
        settings: { _ in },
        build: { host, _ in
            let machine = BarrageMachine(policies: host.settings.policies)
            let spec = MachineSpec(name: "barrage", inbox: .barrageInbox, state: .barrageState) {
                let meter = LedgerMeter($0.metrics)
                return MachineProcessor(machine, $0) { meter.count($0, $1) }
            }
            return [host.shell(spec)]
        }))
