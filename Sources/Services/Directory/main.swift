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
        settings: { WebhookSettings(&$0) },
        build: { host, webhooks in
            let machine = DirectoryMachine(policies: host.settings.policies)
            let apps = host.appTable()
            let spec = MachineSpec(
                name: "directory", inbox: .directoryInbox, state: .directoryState, publicTopics: [.rooms, .apps],
                apps: apps
            ) {
                MachineProcessor(machine, $0, refresh: { $0.updateSettings(apps.snapshot) })
            }
            let hooks = host.settings.hooks
            var components: [any ServiceComponent] = [apps, host.shell(spec)]
            if !hooks.isEmpty {
                components.append(
                    WebhookSender(
                        hooks: hooks, settings: host.shellSettings, caFile: webhooks.caFile, log: host.log,
                        metrics: host.metrics))
            }
            return components
        }))
