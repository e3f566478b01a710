// SPDX-License-Identifier: Apache-2.0
import DirectoryCore
import Glibc
import PlazaModel
import PlazaWire
import ServiceShell
import Settings
import Webhooks

exit(
    ServiceHost.run(
        "room-directory", summary: "Keeps the list of lives: who owns them, what they are, who may do what.",
        backendRequests: .all,
        settings: { reader in WebhookSettings(&reader) },
        build: { host, webhookSettings in
            let machine = DirectoryMachine(policies: host.settings.policies)
            // The word filters need the settings of all apps, but this instance owns only some partitions of its state.
            // So it reads the settings from the topic `apps`, to which all instances of this service write them.
            let apps = host.makeAppTableFollower()
            let spec = MachineSpec(
                name: "directory", inbox: .directoryInbox, state: .directoryState, publicTopics: [.rooms, .apps],
                apps: apps
            ) { context in
                // `refresh` is called at the start of each batch.
                MachineProcessor(machine, context, refresh: { machine in machine.updateSettings(apps.snapshot) })
            }
            // Only this service sends the webhook events of all machines to the apps' backends.
            let hooks = host.settings.hooks
            var components: [any ServiceComponent] = [apps, host.makeShell(spec)]
            if !hooks.isEmpty {
                components.append(
                    WebhookSender(
                        hooks: hooks, settings: host.shellSettings, caFile: webhookSettings.caFile, log: host.log,
                        metrics: host.metrics))
            }
            return components
        }))
