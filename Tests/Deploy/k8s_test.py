#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks deploy/k8s: against the schemas of Kubernetes, and against the programs that it runs.

Each overlay is rendered by `kustomize build` or `kubectl kustomize` (1.27 or later), with secrets made for the test. Every
object must follow the schemas of the oldest and the newest version of Kubernetes that are named here. Then: what refers to
something must find it (selectors, ports, volumes, backends, targets); each setting must be one of its program's; and each
probe's path, each port and each metric that an autoscaler asks for must be there in a cluster that runs.

Needs kubernetes-validate and PyYAML of Tests/Deploy/requirements.txt (in .build/python-deploy, or installed), kubectl or kustomize, and the
built programs. Takes about half a minute, at most three, and ends everything that it starts. Exit status 0: all of it held.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from local_cluster import ROOT, SERVICES, Cluster, Failure, Processes, bin_directory, get, say

sys.path.append(os.path.join(ROOT, ".build", "python-deploy"))
try:
    import kubernetes_validate
    import yaml
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: python3 -m pip install --target .build/python-deploy --requirement Tests/Deploy/requirements.txt")

# The oldest one that has all that is used, and the newest that the schemas know.
VERSIONS = ["1.27", "1.33"]
OVERLAYS = ["base", "overlays/dev", "overlays/production"]
# What the operators and whoever runs the cluster make, besides the overlay: docs/OPERATING.md, section 11, names each.
MADE_ELSEWHERE = {"liveplaza-apps", "liveplaza-apps-webhooks", "liveplaza-apps-policies", "liveplaza-session", "liveplaza-redis",
                  "liveplaza-tls", "liveplaza-kafka", "kafka-cluster-ca-cert"}


def render(folder, overlay):
    """The objects of an overlay of a copy of deploy/k8s."""
    path = os.path.join(folder, overlay)
    if shutil.which("kustomize"):
        command = ["kustomize", "build", path]
    elif shutil.which("kubectl"):
        command = ["kubectl", "kustomize", path]
    else:
        raise SystemExit("kustomize or kubectl is missing: https://kubernetes.io/docs/tasks/tools/ has both, as one file each")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command[:2])} {overlay}: {done.stderr}")
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def validate(overlay, objects):
    for version in VERSIONS:
        for each in objects:
            try:
                kubernetes_validate.validate(each, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                raise Failure(f"{overlay}: {each['kind']} {each['metadata']['name']}, Kubernetes {version}: "
                              f"{'.'.join(str(part) for part in error.path)}: {error.message}") from None
    say(f"{overlay}: {len(objects)} objects follow the schemas of Kubernetes {' and '.join(VERSIONS)}")


class Objects:
    """The objects of one overlay, and what is wrong with what they say about each other."""

    def __init__(self, overlay, objects):
        self.overlay, self.all, self.faults = overlay, objects, []

    def of(self, kind):
        return [each for each in self.all if each["kind"] == kind]

    def named(self, kind, name):
        return next((each for each in self.of(kind) if each["metadata"]["name"] == name), None)

    def expect(self, holds, each, text):
        if not holds:
            self.faults.append(f"{self.overlay}: {each['kind']} {each['metadata']['name']}: {text}")

    def selected(self, selector):
        """The Deployments whose pods a selector chooses."""
        def chooses(labels):
            for rule in selector.get("matchExpressions", []):
                if rule["operator"] != "In" or labels.get(rule["key"]) not in rule["values"]:
                    return False
            return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())

        return [each for each in self.of("Deployment") if chooses(each["spec"]["template"]["metadata"]["labels"])]

    def check(self):
        for each in self.of("Deployment"):
            self.check_deployment(each)
        for each in self.of("PodDisruptionBudget"):
            self.expect(len(self.selected(each["spec"]["selector"])) == 1, each, "chooses the pods of no Deployment, or of several")
        for each in self.of("Service"):
            chosen = self.selected({"matchLabels": each["spec"]["selector"]})
            self.expect(len(chosen) == 1, each, "chooses the pods of no Deployment, or of several")
            for port in each["spec"]["ports"]:
                self.expect(all(port["targetPort"] in port_names(one) for one in chosen), each, f"no port {port['targetPort']}")
        for each in self.of("NetworkPolicy"):
            chosen = self.selected(each["spec"]["podSelector"])
            self.expect(chosen, each, "chooses no pod")
            for rule in each["spec"].get("ingress", []):
                for port in rule["ports"]:
                    self.expect(all(port["port"] in port_names(one) for one in chosen), each, f"no port {port['port']}")
        for each in self.of("Ingress"):
            self.check_ingress(each)
        for each in self.of("HorizontalPodAutoscaler"):
            target = self.named("Deployment", each["spec"]["scaleTargetRef"]["name"])
            self.expect(target is not None, each, "scales nothing")
            partitions = int(self.named("ConfigMap", "settings")["data"]["LIVEPLAZA_PARTITIONS"])
            if each["metadata"]["name"] != "gateway":
                self.expect(each["spec"]["maxReplicas"] <= partitions, each, f"more instances than {partitions} partitions")
        services = {each["metadata"]["name"] for each in self.of("Deployment") if is_own(each)}
        self.expect(services == set(SERVICES), self.of("Deployment")[0], f"the services are {services}")

    def check_deployment(self, each):
        pod, labels = each["spec"]["template"]["spec"], each["spec"]["template"]["metadata"]["labels"]
        self.expect(each in self.selected(each["spec"]["selector"]), each, "does not choose its own pods")
        self.expect(pod["securityContext"].get("runAsNonRoot"), each, "may run as root")
        for constraint in pod.get("topologySpreadConstraints", []):
            self.expect(each in self.selected(constraint["labelSelector"]), each, "spreads other pods than its own")
        volumes = {one["name"]: one for one in pod.get("volumes", [])}
        for name, volume in volumes.items():
            secret = volume.get("secret", {})
            if secret:
                # kustomize appends a hash to the names of those that it makes.
                made = self.named("Secret", secret["secretName"]) or secret["secretName"] in MADE_ELSEWHERE
                self.expect(made, each, f"nobody makes the secret {secret['secretName']}")
                self.expect(secret["defaultMode"] & 0o007 == 0, each, f"others can read {name}")
        for container in pod["containers"]:
            mounts = {one["mountPath"]: one["name"] for one in container.get("volumeMounts", [])}
            self.expect(set(mounts.values()) == set(volumes), each, "mounts other volumes than it has")
            ports = port_names(each)
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                for kind in ("httpGet", "tcpSocket"):
                    if kind in container.get(probe, {}):
                        self.expect(container[probe][kind]["port"] in ports, each, f"{probe}: no such port")
            if is_own(each):
                self.check_program(each, container, mounts, labels)

    def check_program(self, each, container, mounts, labels):
        values = {}
        for one in container["env"]:
            source = one.get("valueFrom", {}).get("configMapKeyRef")
            if source:
                settings = self.named("ConfigMap", source["name"]) or {"data": {}}
                self.expect(source["key"] in settings["data"], each, f"{source['name']} has no {source['key']}")
                values[one["name"]] = settings["data"].get(source["key"], "")
            else:
                values[one["name"]] = one.get("value", "")
        self.expect(len(values) == len(container["env"]), each, "sets a variable twice")
        accepted = accepted_settings(container["command"][0])
        for name, value in values.items():
            self.expect(name in accepted, each, f"{container['command'][0]} has no setting {name}")
            if name.endswith("_FILE") or name == "LIVEPLAZA_APPS":
                self.expect(os.path.dirname(value) in mounts, each, f"{name}: nothing is mounted at {os.path.dirname(value)}")
        numbers = port_names(each)
        for setting, port in (("LIVEPLAZA_OPS_PORT", "operations"), ("LIVEPLAZA_PORT", "websocket"), ("LIVEPLAZA_HTTP_PORT", "http")):
            if setting in values or port in numbers:
                self.expect(str(numbers.get(port)) == values.get(setting), each, f"{setting} and the port {port} differ")
        annotations = each["spec"]["template"]["metadata"]["annotations"]
        self.expect(annotations["prometheus.io/port"] == values["LIVEPLAZA_OPS_PORT"], each, "prometheus.io/port is another port")
        stop = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        needed = int(stop[1]) + int(values.get("LIVEPLAZA_DRAIN_MILLISECONDS", "1500")) / 1000 + 1
        granted = each["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        self.expect(granted > needed, each, f"a stop takes up to {needed:g} s and is granted {granted} s")
        self.expect(container["securityContext"]["readOnlyRootFilesystem"], each, "may write")
        self.expect(container["command"][0] == labels["app.kubernetes.io/name"], each, "runs another program than its name says")

    def check_ingress(self, each):
        for rule in each["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                service = self.named("Service", backend["name"])
                names = [port["name"] for port in service["spec"]["ports"]] if service else []
                self.expect(backend["port"]["name"] in names, each, f"{path['path']}: no such Service or port")
        for tls in each["spec"].get("tls", []):
            self.expect(tls["secretName"] in MADE_ELSEWHERE, each, f"nobody makes the secret {tls['secretName']}")


def is_own(deployment):
    return deployment["metadata"]["labels"].get("liveplaza/programs") == "own"


def port_names(deployment):
    return {port["name"]: port["containerPort"] for container in deployment["spec"]["template"]["spec"]["containers"]
            for port in container.get("ports", [])}


_accepted = {}


def accepted_settings(program):
    """The variables that `PROGRAM --help` names."""
    if program not in _accepted:
        text = subprocess.run([os.path.join(BIN, program), "--help"], capture_output=True, text=True, timeout=20).stdout
        _accepted[program] = set(re.findall(r"\bLIVEPLAZA_[A-Z_]+\b", text))
    return _accepted[program]


def check_running(rendered):
    """Asks a cluster that runs for each probe's path, and for each metric that an autoscaler names."""
    with Processes("k8s", seconds=150) as processes:
        cluster = Cluster(processes, BIN, [])
        cluster.wait_ready()
        operations = {name: f"http://127.0.0.1:{cluster.instances(name)[0]['opsPort']}" for name in SERVICES}
        asked = 0
        for objects in rendered:
            for each in filter(is_own, objects.of("Deployment")):
                container = each["spec"]["template"]["spec"]["containers"][0]
                paths = {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
                paths.add(each["spec"]["template"]["metadata"]["annotations"]["prometheus.io/path"])
                for path in paths:
                    asked += 1
                    objects.expect(get(operations[each["metadata"]["name"]] + path)[0] == 200, each, f"{path} is not there")
            for each in objects.of("HorizontalPodAutoscaler"):
                text = get(operations[each["spec"]["scaleTargetRef"]["name"]] + "/metrics")[1]
                for metric in each["spec"]["metrics"]:
                    if metric["type"] != "Pods":
                        continue
                    wanted = metric["pods"]["metric"]
                    labels = [f'{name}="{value}"' for name, value in wanted.get("selector", {}).get("matchLabels", {}).items()]
                    lines = [line for line in text.splitlines() if re.match(rf"{wanted['name']}[{{ ]", line)]
                    asked += 1
                    objects.expect(any(all(label in line for label in labels) for line in lines), each, f"no metric {wanted}")
                    with open(os.path.join(ROOT, "deploy", "k8s", "prometheus-adapter.yaml")) as file:
                        series = [rule["seriesQuery"] for rule in yaml.safe_load(file)["rules"]["custom"]]
                    objects.expect(any(query.startswith(wanted["name"] + "{") for query in series), each,
                                   f"prometheus-adapter.yaml has no {wanted['name']}")
        say(f"asked a cluster that runs for {asked} paths and metrics")


def main():
    global BIN
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    BIN = bin_directory(parser.parse_args().bin)
    with tempfile.TemporaryDirectory(prefix="liveplaza-k8s-") as folder:
        copy = os.path.join(folder, "k8s")
        shutil.copytree(os.path.join(ROOT, "deploy", "k8s"), copy, ignore=shutil.ignore_patterns("secrets"))
        secrets = os.path.join(copy, "overlays", "dev", "secrets")
        os.mkdir(secrets)
        for name in ("apps.json", "apps-webhooks.json", "apps-policies.json", "session-key", "redis-password"):
            with open(os.path.join(secrets, name), "w") as file:
                file.write("tests-only")
        rendered = []
        for overlay in OVERLAYS:
            objects = Objects(overlay, render(copy, overlay))
            validate(overlay, objects.all)
            objects.check()
            rendered.append(objects)
    for name in ("kafka.yaml", "redis.yaml"):
        with open(os.path.join(ROOT, "deploy", "k8s", "operators", name)) as file:
            if not all(each["apiVersion"] and each["metadata"]["name"] for each in yaml.safe_load_all(file)):
                raise Failure(f"operators/{name} is incomplete")
    with open(os.path.join(ROOT, "deploy", "observe", "prometheus-kubernetes.yml")) as file:
        yaml.safe_load(file)
    with open(os.path.join(ROOT, "docs", "OPERATING.md")) as file:
        text = file.read()
    unnamed = [name for name in sorted(MADE_ELSEWHERE) if f"`{name}`" not in text]
    check_running(rendered)
    faults = [fault for objects in rendered for fault in objects.faults] + [f"docs/OPERATING.md does not name {name}" for name in unnamed]
    for fault in faults:
        say(f"FAULT: {fault}")
    if faults:
        raise Failure(f"{len(faults)} faults")
    say("all of it held")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"k8s_test: FAILED: {failure}")
