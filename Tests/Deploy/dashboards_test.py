#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every query of every Grafana panel and every alert rule of deploy/observe against a loaded cluster.

It starts a cluster behind the proxy of deploy/haproxy, with a backend for webhooks, and loads it: `plaza load`, `plaza
demo` and HTTP requests. Debian's Prometheus scrapes all of it and loads the rules. Each query must give at least one
number. A rule gives nothing while all is well, so each side of each of its comparisons is a query. promtool checks
rules and configurations.

Needs prometheus, haproxy and openssl, and the built programs; with KAFKA_HOME (or --kafka-home) it runs on a real
Kafka, else on the broker in memory. Listens on loopback only, takes about two minutes, at most five, and ends
everything that it starts. Exit status 0: each query gave data. Else each that did not is listed.
"""
import argparse
import glob
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse

from local_cluster import ROOT, SERVICES, Cluster, Failure, Processes, bin_directory, free_ports, get, program, say, wait_until
from proxy_test import Proxy

OBSERVE = os.path.join(ROOT, "deploy", "observe")
# Values for the variables that Grafana replaces in a query.
VARIABLES = {"$__rate_interval": "30s", "$job": ".*", "$instance": ".*", "$partition": ".*"}


class Backend(http.server.BaseHTTPRequestHandler):
    """An app's backend, which takes every event and allows what it is asked about."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = b'{"code": 0}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def panel_queries():
    """(dashboard, panel, expression) of each target of each panel."""
    queries = []
    for path in sorted(glob.glob(os.path.join(OBSERVE, "grafana", "dashboards", "*.json"))):
        with open(path) as file:
            dashboard = json.load(file)
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                queries.append((os.path.basename(path), panel["title"], target["expr"]))
    return queries


def check_dashboards():
    """Checks what Grafana needs: unique ids, a data source that is provisioned, and variables that are defined."""
    with open(os.path.join(OBSERVE, "grafana", "provisioning", "datasources", "prometheus.yml")) as file:
        source = re.search(r"^ *uid: *(\S+)", file.read(), re.M).group(1)
    seen_ids = set()
    for path in glob.glob(os.path.join(OBSERVE, "grafana", "dashboards", "*.json")):
        with open(path) as file:
            text = file.read()
        dashboard, name = json.loads(text), os.path.basename(path)
        ids = [panel["id"] for panel in dashboard["panels"]]
        if len(set(ids)) != len(ids) or dashboard["uid"] in seen_ids:
            raise Failure(f"{name}: two panels or two dashboards have one id")
        seen_ids.add(dashboard["uid"])
        if set(re.findall(r'"type": "prometheus",\s*"uid": "([^"]*)"', text)) != {source}:
            raise Failure(f"{name} names a data source that is not provisioned")
        defined = {"$" + variable["name"] for variable in dashboard["templating"]["list"]} | {"$__rate_interval", "$__all"}
        used = set(re.findall(r"\$\w+", text))
        if used - defined:
            raise Failure(f"{name} uses variables that it does not define: {used - defined}")
    say(f"{len(seen_ids)} dashboards: {', '.join(sorted(seen_ids))}")


def sides(expression):
    """The queries in an alert's expression: the operands of its comparisons and of `and`, `or` and `unless`.

    Operators within parentheses do not separate, unless the parentheses enclose a whole operand. Operands that are
    numbers are left out, and so is `offset`, because the test's Prometheus has no earlier data.
    """
    expression = re.sub(r"\s+offset \w+", "", expression.strip())
    depth, start, operands, position, is_quoted = 0, 0, [], 0, False
    pattern = re.compile(r"\b(?:and|or|unless)\b|==|!=|<=|>=|<|>")
    while position < len(expression):
        character = expression[position]
        if character == '"':
            is_quoted = not is_quoted
        elif not is_quoted and character in "([{":
            depth += 1
        elif not is_quoted and character in ")]}":
            depth -= 1
        elif not is_quoted and depth == 0 and (match := pattern.match(expression, position)):
            operands.append(expression[start:position])
            start = position = match.end()
            continue
        position += 1
    operands.append(expression[start:])
    if len(operands) == 1:
        # `absent` gives data when its operand does not.
        whole = re.sub(r"^absent(?=\()", "", operands[0].strip())
        if whole.startswith("(") and whole.endswith(")"):
            return sides(whole[1:-1])
        # A factor in front, such as `0.9 * `, is left out too.
        return [] if re.fullmatch(r"[-\d.e]+", whole) else [re.sub(r"^[\d.]+ \* ", "", whole)]
    return [side for operand in operands for side in sides(operand)]


class Prometheus:
    """Debian's Prometheus with the shipped rules, which scrapes a cluster and its proxy."""

    def __init__(self, processes, cluster, proxy):
        self.port = free_ports(1)[0]
        jobs = {name: [instance["opsPort"] for instance in cluster.instances(name)] for name in SERVICES}
        jobs["proxy"] = [proxy.ops]
        scraped = [{"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in ports]}]}
                   for name, ports in jobs.items()]
        configuration = processes.path("prometheus.yml")
        with open(configuration, "w") as file:
            # JSON is valid YAML.
            json.dump({"global": {"scrape_interval": "2s", "evaluation_interval": "2s"},
                       "rule_files": [os.path.join(OBSERVE, "alerts.yml")], "scrape_configs": scraped}, file)
        processes.start("prometheus.log", [
            program("prometheus", "prometheus"), f"--config.file={configuration}",
            f"--storage.tsdb.path={processes.path('tsdb')}", f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn"])
        wait_until("Prometheus is ready", lambda: get(f"http://127.0.0.1:{self.port}/-/ready")[0] == 200, 30)
        shipped = set(re.findall(r"job_name: ([\w-]+)", open(os.path.join(OBSERVE, "prometheus-compose.yml")).read()))
        if shipped != set(jobs):
            raise Failure(f"prometheus-compose.yml has the jobs {sorted(shipped)}, the cluster {sorted(jobs)}")

    def api(self, path, **parameters):
        """The data and the error of an answer of Prometheus's HTTP API; one of them is None."""
        status, text = get(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        answer = json.loads(text) if text.startswith("{") else {"error": f"{status} {text}"}
        return answer.get("data"), answer.get("error")

    def gives_data(self, expression):
        """Whether a query gives a number, and the error if the query is wrong."""
        for variable, value in VARIABLES.items():
            expression = expression.replace(variable, value)
        data, error = self.api("query", query=expression)
        if error:
            return False, error
        values = [data["result"][1]] if data["resultType"] == "scalar" else [series["value"][1] for series in data["result"]]
        return any(value != "NaN" for value in values), None

    def rules(self):
        return [rule for group in self.api("rules")[0]["groups"] for rule in group["rules"]]


def run_promtool():
    promtool = program("promtool", "prometheus")
    for arguments in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"],
                      ["check", "config", "prometheus.yml"], ["check", "config", "prometheus-compose.yml"]):
        result = subprocess.run([promtool, *arguments], cwd=OBSERVE, capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f"promtool {' '.join(arguments)}: {result.stdout}{result.stderr}")
        say(f"promtool {' '.join(arguments)}: passed")


def run_queries(prometheus, seconds, send_requests):
    """Runs each query again and again until each has given data or the time is over; sends HTTP requests meanwhile.

    Returns the number of queries, and those that have not given data: (where, expression, error).
    """
    # The queries that have not given data yet, with their last errors.
    waiting = {}
    for dashboard, panel, expression in panel_queries():
        waiting[(f"{dashboard}: {panel}", expression)] = None
    for rule in prometheus.rules():
        for side in sides(rule["query"]):
            waiting[(f"alert {rule['name']}", side)] = None
    total, deadline = len(waiting), time.monotonic() + seconds
    while waiting and time.monotonic() < deadline:
        send_requests()
        for key in list(waiting):
            has_data, error = prometheus.gives_data(key[1])
            if has_data:
                del waiting[key]
            else:
                waiting[key] = error
        say(f"{total - len(waiting)} of {total} queries gave data")
        time.sleep(5)
    return total, [(where, expression, error) for (where, expression), error in waiting.items()]


def defaulted(prometheus):
    """The queries of panels that gave only the 0 of their `or vector(0)`, because what they count did not happen."""
    return [(dashboard, panel, expression) for dashboard, panel, expression in panel_queries()
            if expression.endswith(" or vector(0)")
            and not prometheus.gives_data(re.sub(r"( > 0)? or vector\(0\)$", "", expression))[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    parser.add_argument("--kafka-home", default=os.environ.get("KAFKA_HOME"),
                        help="an unpacked Apache Kafka; default: KAFKA_HOME")
    parser.add_argument("--files-only", action="store_true",
                        help="check the files, with promtool too, and start no cluster")
    options = parser.parse_args()
    check_dashboards()
    run_promtool()
    if options.files_only:
        return
    for name in ("haproxy", "openssl", "prometheus"):
        program(name, name)
    with Processes("dashboards", seconds=300) as processes:
        backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        apps = {"apps": {"demo": {
            "keys": [{"kid": "k1", "alg": "HS256", "k": "dGVzdHMtb25seS10ZXN0cy1vbmx5LXRlc3RzLW9ubHk"}],
            "hooks": {"url": f"http://127.0.0.1:{backend.server_port}/hook", "secret": "tests-only-tests-only",
                      "before": {"message": "allow", "gift": "allow"}}}}}
        say("starting a cluster with two gateways on "
            f"{'the Kafka of ' + options.kafka_home if options.kafka_home else 'the broker in memory'}")
        cluster = Cluster(processes, bin_directory(options.bin), [
            "--scale", "gateway=2", *(["--kafka-home", options.kafka_home] if options.kafka_home else [])], {
            "LIVEPLAZA_PROXY_PROTOCOL": "true", "LIVEPLAZA_TRUSTED_PROXIES": "127.0.0.1/32",
            "LIVEPLAZA_APPS_JSON": json.dumps(apps)})
        cluster.wait_ready()
        proxy = Proxy(processes, cluster)
        prometheus = Prometheus(processes, cluster, proxy)
        plaza = os.path.join(cluster.bin, "plaza")
        through_proxy = ["--run-dir", cluster.run, "--gateway", f"127.0.0.1:{proxy.port}"]
        processes.start("demo.log", [plaza, "demo", "--loop", *through_proxy], env=cluster.environment)
        load = processes.start("load.log",
                               [plaza, "load", "--rooms", "2", "--viewers", "50", "--rate", "25", "--seconds", "75",
                                           *through_proxy],
                               env=cluster.environment)
        token = cluster.token("watcher")

        def send_requests():
            for _ in range(5):
                get(f"http://127.0.0.1:{proxy.http}/v1/lives", {"Authorization": f"Bearer {token}"})

        total, without_data = run_queries(prometheus, 90, send_requests)
        for dashboard, panel, expression in defaulted(prometheus):
            say(f"only the 0 of `or vector(0)`, because nothing of the kind happened: {dashboard}: {panel}: "
                f"{expression}")
        if load.poll() not in (None, 0):
            raise Failure(f"plaza load failed: {open(processes.path('load.log')).read()[-600:]}")
        broken_rules = [rule["name"] for rule in prometheus.rules() if rule["health"] != "ok"]
        firing = [rule["name"] for rule in prometheus.rules() if rule["state"] == "firing"]
        say(f"rules that could not be evaluated: {', '.join(broken_rules) or 'none'}; "
            f"alerts that fired under this load: {', '.join(firing) or 'none'}")
        for where, expression, error in without_data:
            say(f"NO DATA: {where}: {expression}{f' ({error})' if error else ''}")
        if without_data or broken_rules:
            processes.failed = True
            raise Failure(f"{len(without_data)} of {total} queries gave no data, {len(broken_rules)} rules could not "
                          "be evaluated")
        say(f"each of {total} queries gave data")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"dashboards_test: FAILED: {failure}")
