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
            let apps = host.makeAppTableFollower()
            // The machine's name is also its consumer group. Readers of `room.feed` look up the offsets that this group
            // has committed.
            let spec = MachineSpec(
                name: AppendedFeed.group, inbox: .barrageInbox, state: .barrageState, appendsTo: .roomFeed, apps: apps
            ) { context in
                let meter = LedgerMeter(context.metrics)
                // `observe` gets each changed row after a commit; `refresh` is called at the start of each batch.
                return MachineProcessor(
                    machine, context, observe: { old, new in meter.countGrowth(from: old, to: new) },
                    refresh: { machine in machine.updateSettings(apps.snapshot) })
            }
            return [apps, host.makeShell(spec)]
        }))
