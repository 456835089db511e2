"""Manifests as kustomize renders them, and the Kubernetes types that they must have."""
import functools
import json
import os
import re
import shutil
import subprocess

import yaml

from harness import Skip
from scratch import SOURCE, once

KUBERNETES = SOURCE / "packaging/kubernetes"
# The newest of each on the npm registry that the other is good with: the types of 1.30.
PACKAGES = ("kubernetes-types@1.30.0", "typescript@5.9.3")
MODULES = {"v1": "core/v1", "apps/v1": "apps/v1"}


@functools.cache
def kustomize_command():
    """kustomize, or a kubectl that has a version of it with components and `patches`"""
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    done = subprocess.run(["kubectl", "version", "--client"], capture_output=True, text=True) if shutil.which("kubectl") else None
    found = re.search(r"Kustomize Version: v([45])\.", done.stdout) if done else None
    if not found:
        raise Skip("needs kustomize 4 or newer, or a kubectl that has it")
    return ["kubectl", "kustomize"]


def rendered(scratch, folder):
    return list(yaml.safe_load_all(scratch.run(*kustomize_command(), folder).stdout))


def one(documents, kind):
    found = [document for document in documents if document["kind"] == kind]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} documents of kind {kind}")
    return found[0]


@once
def types(scratch):
    """the folder with the types and the compiler; a reason where they can't be had. They stay in the checkout's build folder."""
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            return None, f"needs {tool}"
    folder = SOURCE / "build/delivery-npm"
    if not all((folder / "node_modules" / name.split("@")[0]).exists() for name in PACKAGES):
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--prefix", folder, "--cache", folder / "cache", "--ignore-scripts", "--no-audit", "--no-fund",
                 "--no-save", *PACKAGES]
        done = scratch.run(*words, code=None, timeout=300, env=dict(os.environ, npm_config_update_notifier="false"))
        if done.returncode != 0:
            return None, f"the npm registry gives no {' '.join(PACKAGES)}: {done.stderr.strip()[-200:]}"
    return folder, ""


def type_errors(scratch, documents):
    """What the compiler says of the documents as object literals: there a field that the type doesn't have is an error."""
    folder, why_not = types(scratch)
    if folder is None:
        raise Skip(why_not)
    lines = []
    for number, document in enumerate(documents):
        module, kind = MODULES[document["apiVersion"]], document["kind"]
        lines.append(f'import type {{ {kind} as Type{number} }} from "kubernetes-types/{module}";')
        lines.append(f"export const document{number}: Type{number} = {json.dumps(document, indent=1)};")
    source = scratch.write("types/manifests.ts", "\n".join(lines) + "\n")
    modules = scratch.path("types", "node_modules")
    if not modules.exists():
        modules.symlink_to(folder / "node_modules")
    done = scratch.run("node", folder / "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module",
                       "esnext", "--moduleResolution", "bundler", source, code=None)
    return done.stdout + done.stderr
