#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks deploy/k8s: against the schemas of Kubernetes, and against the programs that it runs.

Each overlay is rendered by `kustomize build` or `kubectl kustomize`, with secrets made for the test. Every object must
follow the schemas of the oldest and the newest version of Kubernetes that are named here. Then: what refers to
something must find it (selectors, ports, volumes, backends, targets); each setting must be one of its program's; and
each probe's path, each port and each metric that an autoscaler asks for must be there in a cluster that runs.

Needs kubernetes-validate and PyYAML of Tests/Deploy/requirements.txt (in .build/python-deploy, or installed), and the
built programs; fetches kubectl if neither it nor kustomize is here. Takes about half a minute, at most three, and ends
everything that it starts; with --files-only, which starts no cluster, a few seconds. Exit status 0: every check passed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from kustomize import kustomize_command
from local_cluster import ROOT, SERVICES, Cluster, Failure, Processes, bin_directory, get, say

sys.path.append(os.path.join(ROOT, ".build", "python-deploy"))
try:
    import kubernetes_validate
    import yaml
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: python3 -m pip install --target .build/python-deploy --requirement "
                     "Tests/Deploy/requirements.txt")

# Of Kubernetes: the oldest version that has all that is used, and the newest one whose schemas are installed.
VERSIONS = ["1.27", "1.33"]
OVERLAYS = ["base", "overlays/dev", "overlays/production"]
# The versions of kinds in deploy/k8s/operators. Strimzi 1.0 and later accept v1 alone.
OPERATORS_VERSIONS = {"kafka.strimzi.io/v1", "redis.redis.opstreelabs.in/v1beta2", "networking.k8s.io/v1"}
# The secrets that no overlay makes, but operators or whoever runs the cluster: docs/DEPLOYING.md, section 3, names
# each.
MADE_ELSEWHERE = {"liveplaza-apps", "liveplaza-apps-webhooks", "liveplaza-apps-policies", "liveplaza-session", "liveplaza-redis",
                  "liveplaza-tls", "liveplaza-kafka", "kafka-cluster-ca-cert"}

# The folder of the built programs; `main` sets it.
BIN = None


def render(command, folder, overlay):
    """The objects of an overlay; `command` is that of kustomize, and `folder` a copy of deploy/k8s."""
    done = subprocess.run([*command, os.path.join(folder, overlay)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} {overlay}: {done.stderr}")
    return [item for item in yaml.safe_load_all(done.stdout) if item]


def validate(overlay, objects):
    """Checks each object against the schemas of each version."""
    for version in VERSIONS:
        for item in objects:
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                raise Failure(f"{overlay}: {item['kind']} {item['metadata']['name']}, Kubernetes {version}: "
                              f"{'.'.join(str(part) for part in error.path)}: {error.message}") from None
    say(f"{overlay}: {len(objects)} objects follow the schemas of Kubernetes {' and '.join(VERSIONS)}")


class Objects:
    """The objects of one overlay, and the faults in how they refer to each other."""

    def __init__(self, overlay, objects):
        self.overlay, self.all, self.faults = overlay, objects, []

    def of(self, kind):
        return [item for item in self.all if item["kind"] == kind]

    def named(self, kind, name):
        return next((item for item in self.of(kind) if item["metadata"]["name"] == name), None)

    def expect(self, holds, item, text):
        """Notes a fault of an object unless the condition holds."""
        if not holds:
            self.faults.append(f"{self.overlay}: {item['kind']} {item['metadata']['name']}: {text}")

    def selected(self, selector):
        """The Deployments whose pods a selector chooses."""
        def matches(labels):
            for rule in selector.get("matchExpressions", []):
                if rule["operator"] != "In" or labels.get(rule["key"]) not in rule["values"]:
                    return False
            return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())

        return [deployment for deployment in self.of("Deployment")
                if matches(deployment["spec"]["template"]["metadata"]["labels"])]

    def check(self):
        for deployment in self.of("Deployment"):
            self.check_deployment(deployment)
        for budget in self.of("PodDisruptionBudget"):
            self.expect(len(self.selected(budget["spec"]["selector"])) == 1, budget,
                        "chooses the pods of no Deployment, or of several")
        for service in self.of("Service"):
            chosen = self.selected({"matchLabels": service["spec"]["selector"]})
            self.expect(len(chosen) == 1, service, "chooses the pods of no Deployment, or of several")
            for port in service["spec"]["ports"]:
                has_port = all(port["targetPort"] in port_numbers(deployment) for deployment in chosen)
                self.expect(has_port, service, f"no port {port['targetPort']}")
        for policy in self.of("NetworkPolicy"):
            chosen = self.selected(policy["spec"]["podSelector"])
            self.expect(chosen, policy, "chooses no pod")
            for rule in policy["spec"].get("ingress", []):
                for peer in rule["from"]:
                    # Namespaces of others are labelled by whoever runs the cluster.
                    is_known = "namespaceSelector" in peer or self.selected(peer["podSelector"])
                    self.expect(is_known, policy, "lets in a pod that no Deployment has")
                for port in rule["ports"]:
                    has_port = all(port["port"] in port_numbers(deployment) for deployment in chosen)
                    self.expect(has_port, policy, f"no port {port['port']}")
        for ingress in self.of("Ingress"):
            self.check_ingress(ingress)
        for autoscaler in self.of("HorizontalPodAutoscaler"):
            target = self.named("Deployment", autoscaler["spec"]["scaleTargetRef"]["name"])
            self.expect(target is not None, autoscaler, "scales nothing")
            partitions = int(self.named("ConfigMap", "settings")["data"]["LIVEPLAZA_PARTITIONS"])
            # A gateway owns no partitions.
            if autoscaler["metadata"]["name"] != "gateway":
                self.expect(autoscaler["spec"]["maxReplicas"] == partitions, autoscaler, f"not up to as many instances as {partitions} partitions")
        names = {deployment["metadata"]["name"] for deployment in self.of("Deployment") if is_own(deployment)}
        self.expect(names == set(SERVICES), self.of("Deployment")[0], f"the services are {names}")

    def check_deployment(self, deployment):
        pod, labels = deployment["spec"]["template"]["spec"], deployment["spec"]["template"]["metadata"]["labels"]
        policies = [policy for policy in self.of("NetworkPolicy") if "Ingress" in policy["spec"]["policyTypes"]]
        self.expect(any(deployment in self.selected(policy["spec"]["podSelector"]) for policy in policies), deployment,
                    "no NetworkPolicy limits who reaches it")
        self.expect(deployment in self.selected(deployment["spec"]["selector"]), deployment, "does not choose its own pods")
        self.expect(pod["securityContext"].get("runAsNonRoot"), deployment, "may run as root")
        for constraint in pod.get("topologySpreadConstraints", []):
            self.expect(deployment in self.selected(constraint["labelSelector"]), deployment,
                        "spreads other pods than its own")
        volumes = {item["name"]: item for item in pod.get("volumes", [])}
        for name, volume in volumes.items():
            secret = volume.get("secret", {})
            if secret:
                # kustomize appends a hash to the names of those that it makes.
                made = self.named("Secret", secret["secretName"]) or secret["secretName"] in MADE_ELSEWHERE
                self.expect(made, deployment, f"nobody makes the secret {secret['secretName']}")
                self.expect(secret["defaultMode"] & 0o007 == 0, deployment, f"others can read {name}")
        for container in pod["containers"]:
            mounts = {item["mountPath"]: item["name"] for item in container.get("volumeMounts", [])}
            self.expect(set(mounts.values()) == set(volumes), deployment, "mounts other volumes than it has")
            ports = port_numbers(deployment)
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                for kind in ("httpGet", "tcpSocket"):
                    if kind in container.get(probe, {}):
                        self.expect(container[probe][kind]["port"] in ports, deployment, f"{probe}: no such port")
            if is_own(deployment):
                self.check_program(deployment, container, mounts, labels)

    def check_program(self, deployment, container, mounts, labels):
        # The variables of the container with their values, and those of the ConfigMap's keys that they name.
        values = {}
        for variable in container["env"]:
            source = variable.get("valueFrom", {}).get("configMapKeyRef")
            if source:
                settings = self.named("ConfigMap", source["name"]) or {"data": {}}
                self.expect(source["key"] in settings["data"], deployment, f"{source['name']} has no {source['key']}")
                values[variable["name"]] = settings["data"].get(source["key"], "")
            else:
                values[variable["name"]] = variable.get("value", "")
        self.expect(len(values) == len(container["env"]), deployment, "sets a variable twice")
        accepted = accepted_settings(container["command"][0])
        for name, value in values.items():
            self.expect(name in accepted, deployment, f"{container['command'][0]} has no setting {name}")
            if name.endswith("_FILE") or name == "LIVEPLAZA_APPS":
                self.expect(os.path.dirname(value) in mounts, deployment,
                            f"{name}: nothing is mounted at {os.path.dirname(value)}")
        ports = port_numbers(deployment)
        for setting, port in (("LIVEPLAZA_OPS_PORT", "operations"), ("LIVEPLAZA_PORT", "websocket"),
                              ("LIVEPLAZA_HTTP_PORT", "http")):
            if setting in values or port in ports:
                self.expect(str(ports.get(port)) == values.get(setting), deployment,
                            f"{setting} and the port {port} differ")
        annotations = deployment["spec"]["template"]["metadata"]["annotations"]
        self.expect(annotations["prometheus.io/port"] == values["LIVEPLAZA_OPS_PORT"], deployment,
                    "prometheus.io/port is another port")
        # A stop takes as long as the preStop command sleeps, the gateway drains (in milliseconds), and 1 s more.
        pre_stop = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        needed = int(pre_stop[1]) + int(values.get("LIVEPLAZA_DRAIN_MILLISECONDS", "1500")) / 1000 + 1
        granted = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        self.expect(granted > needed, deployment, f"a stop takes up to {needed:g} s and is granted {granted} s")
        self.expect(container["securityContext"]["readOnlyRootFilesystem"], deployment, "may write")
        self.expect(container["command"][0] == labels["app.kubernetes.io/name"], deployment,
                    "runs another program than its name says")

    def check_ingress(self, ingress):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                service = self.named("Service", backend["name"])
                names = [port["name"] for port in service["spec"]["ports"]] if service else []
                self.expect(backend["port"]["name"] in names, ingress, f"{path['path']}: no such Service or port")
        for tls in ingress["spec"].get("tls", []):
            self.expect(tls["secretName"] in MADE_ELSEWHERE, ingress, f"nobody makes the secret {tls['secretName']}")


def is_own(deployment):
    """Whether a Deployment runs a program of this repository."""
    return deployment["metadata"]["labels"].get("liveplaza/programs") == "own"


def port_numbers(deployment):
    """The numbers of a Deployment's ports by their names."""
    return {port["name"]: port["containerPort"] for container in deployment["spec"]["template"]["spec"]["containers"]
            for port in container.get("ports", [])}


# What `accepted_settings` has found so far.
_accepted = {}


def accepted_settings(program):
    """The variables that `PROGRAM --help` names."""
    if program not in _accepted:
        text = subprocess.run([os.path.join(BIN, program), "--help"], capture_output=True, text=True, timeout=20).stdout
        _accepted[program] = set(re.findall(r"\bLIVEPLAZA_[A-Z_]+\b", text))
    return _accepted[program]


def check_operators_file(name):
    """Checks the versions of the kinds in a file of deploy/k8s/operators.

    The schemas of the operators' own kinds are not here, those of Kubernetes's kinds are.
    """
    with open(os.path.join(ROOT, "deploy", "k8s", "operators", name)) as file:
        items = list(yaml.safe_load_all(file))
    for item in items:
        if not item["metadata"]["name"] or item["apiVersion"] not in OPERATORS_VERSIONS:
            raise Failure(f"operators/{name}: {item['kind']} has the version {item['apiVersion']}, or no name")
    if known := [item for item in items if item["apiVersion"].split("/")[0].endswith(".k8s.io")]:
        validate(f"operators/{name}", known)


def check_running(rendered):
    """Starts a cluster; asks it for each probe's path, and for each metric that an autoscaler names."""
    with Processes("k8s", seconds=150) as processes:
        cluster = Cluster(processes, BIN, [])
        cluster.wait_ready()
        # The base URL of the operations port of an instance of each service.
        operations = {name: f"http://127.0.0.1:{cluster.instances(name)[0]['opsPort']}" for name in SERVICES}
        asked_count = 0
        for objects in rendered:
            for deployment in filter(is_own, objects.of("Deployment")):
                container = deployment["spec"]["template"]["spec"]["containers"][0]
                paths = {container[probe]["httpGet"]["path"]
                         for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
                paths.add(deployment["spec"]["template"]["metadata"]["annotations"]["prometheus.io/path"])
                for path in paths:
                    asked_count += 1
                    url = operations[deployment["metadata"]["name"]] + path
                    objects.expect(get(url)[0] == 200, deployment, f"{path} is not there")
            for autoscaler in objects.of("HorizontalPodAutoscaler"):
                text = get(operations[autoscaler["spec"]["scaleTargetRef"]["name"]] + "/metrics")[1]
                for metric in autoscaler["spec"]["metrics"]:
                    if metric["type"] != "Pods":
                        continue
                    wanted = metric["pods"]["metric"]
                    labels = [f'{name}="{value}"'
                              for name, value in wanted.get("selector", {}).get("matchLabels", {}).items()]
                    lines = [line for line in text.splitlines() if re.match(rf"{wanted['name']}[{{ ]", line)]
                    asked_count += 1
                    has_metric = any(all(label in line for label in labels) for line in lines)
                    objects.expect(has_metric, autoscaler, f"no metric {wanted}")
                    with open(os.path.join(ROOT, "deploy", "k8s", "prometheus-adapter.yaml")) as file:
                        series = [rule["seriesQuery"] for rule in yaml.safe_load(file)["rules"]["custom"]]
                    objects.expect(any(query.startswith(wanted["name"] + "{") for query in series), autoscaler,
                                   f"prometheus-adapter.yaml has no {wanted['name']}")
        say(f"asked a cluster that runs for {asked_count} paths and metrics")


def main():
    global BIN
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    parser.add_argument("--files-only", action="store_true", help="check the files, and start no cluster")
    options = parser.parse_args()
    BIN = bin_directory(options.bin)
    with tempfile.TemporaryDirectory(prefix="liveplaza-k8s-") as folder:
        copy = os.path.join(folder, "k8s")
        shutil.copytree(os.path.join(ROOT, "deploy", "k8s"), copy, ignore=shutil.ignore_patterns("secrets"))
        secrets = os.path.join(copy, "overlays", "dev", "secrets")
        os.mkdir(secrets)
        for name in ("apps.json", "apps-webhooks.json", "apps-policies.json", "session-key", "redis-password"):
            with open(os.path.join(secrets, name), "w") as file:
                file.write("tests-only")
        rendered, command = [], kustomize_command()
        for overlay in OVERLAYS:
            objects = Objects(overlay, render(command, copy, overlay))
            validate(overlay, objects.all)
            objects.check()
            rendered.append(objects)
    for name in ("kafka.yaml", "redis.yaml"):
        check_operators_file(name)
    # This fails unless the file is YAML.
    with open(os.path.join(ROOT, "deploy", "observe", "prometheus-kubernetes.yml")) as file:
        yaml.safe_load(file)
    with open(os.path.join(ROOT, "docs", "DEPLOYING.md")) as file:
        text = file.read()
    undocumented = [name for name in sorted(MADE_ELSEWHERE) if f"`{name}`" not in text]
    if not options.files_only:
        check_running(rendered)
    faults = [fault for objects in rendered for fault in objects.faults] + [f"docs/DEPLOYING.md does not name {name}" for name in undocumented]
    for fault in faults:
        say(f"FAULT: {fault}")
    if faults:
        raise Failure(f"{len(faults)} faults")
    say("all of it held" + ("; no cluster was asked for its paths and metrics" if options.files_only else ""))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"k8s_test: FAILED: {failure}")
