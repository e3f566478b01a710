// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import Glibc
import PlazaModel
import ServiceShell

exit(
    ServiceHost.run(
        "barrage-fanout", summary: "Writes each live's one ordered feed: barrage, gifts, control, tips, counters.",
        build: { host in
            let machine = BarrageMachine(policies: host.settings.policies)
            let apps = host.appTable()
            let spec = MachineSpec(
                name: AppendedFeed.group, inbox: .barrageInbox, state: .barrageState, appendsTo: .roomFeed, apps: apps
            ) {
                let meter = LedgerMeter($0.metrics)
                return MachineProcessor(
                    machine, $0, observe: { meter.countGrowth(from: $0, to: $1) },
                    refresh: { $0.updateSettings(apps.snapshot) })
            }
            return [apps, host.shell(spec)]
        }))
