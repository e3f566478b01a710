// SPDX-License-Identifier: Apache-2.0
import Glibc
import Presence
import ServiceShell

exit(
    ServiceHost.run(
        "audience-presence", summary: "Keeps who is watching: joins, leaves, heartbeats, kicks, counts and lists.",
        settings: { PresenceSettings(&$0) },
        build: { host, settings in
            let outages = LeaseOutages()
            host.reportDegradation("presence without Redis") { outages.hasAny }
            return [host.makeShell(settings.spec(policies: host.settings.policies, outages: outages))]
        }))
