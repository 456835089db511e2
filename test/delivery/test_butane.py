"""The Butane configs. No butane comes with Debian or npm: their fields are held against those of the published specifications
(openshift 4.14.0, fcos 1.5.0), the embedded files against what is shipped, the units against systemd."""
import base64
import gzip
import os
import pathlib
import re

import yaml
from harness import case
from scratch import SOURCE
from world import equal, expect

OPENSHIFT = SOURCE / "packaging/openshift"
# Of the fields of both specifications the ones that may be used here.
FIELDS = {
    "": {"variant", "version", "metadata", "storage", "systemd"}, "metadata": {"name", "labels"}, "storage": {"files"},
    "storage.files": {"path", "mode", "overwrite", "contents"}, "storage.files.contents": {"local", "inline"},
    "systemd": {"units"}, "systemd.units": {"name", "enabled", "contents_local", "dropins"},
    "systemd.units.dropins": {"name", "contents", "contents_local"},
}


def unknown_fields(it, where=""):
    if isinstance(it, list):
        return [found for entry in it for found in unknown_fields(entry, where)]
    if not isinstance(it, dict) or where == "metadata.labels":
        return []
    known = FIELDS.get(where, ())
    found = [f"{where}.{key}".lstrip(".") for key in it if key not in known]
    return found + [f for key in it if key in known for f in unknown_fields(it[key], f"{where}.{key}".lstrip("."))]


def locals_of(it):
    if isinstance(it, list):
        return [name for entry in it for name in locals_of(entry)]
    if not isinstance(it, dict):
        return []
    here = [value for key, value in it.items() if key in ("local", "contents_local")]
    return here + [name for value in it.values() for name in locals_of(value)]


def butane(name):
    return yaml.safe_load((OPENSHIFT / name).read_text())


@case()
def butane_has_known_fields_and_embeds_the_shipped_files(scratch):
    for name in ("node.bu", "bootstrap.bu"):
        config = butane(name)
        equal(unknown_fields(config), [], f"{name}: fields that Butane doesn't know")
        policy = "packaging/openshift/" + name.replace(".bu", ".toml")
        units = ["packaging/systemd/resolv-guardian.service", "packaging/systemd/resolv-guardian-wait.service"]
        embedded = locals_of(config)
        for wanted in ("dist/resolv-guardian", policy, *units, "packaging/systemd/wait-for-order.conf"):
            expect(wanted in embedded, f"{name} doesn't embed {wanted}")
        for path in embedded:
            expect(path == "dist/resolv-guardian" or (SOURCE / path).is_file(), f"{name}: {path} isn't there")
        for file in config["storage"]["files"]:
            expect(isinstance(file["mode"], int) and file["path"].startswith("/"), f"{name}: {file}")
    dispatcher = "/etc/NetworkManager/dispatcher.d/"
    for name, scripts in (("node.bu", {dispatcher + "30-resolv-prepender", "/usr/local/bin/resolv-prepender.sh"}),
                          ("bootstrap.bu", {dispatcher + "30-local-dns-prepender"})):
        replaced = {file["path"] for file in butane(name)["storage"]["files"] if file.get("overwrite")}
        equal(replaced, scripts, f"{name}: the platform's writers that it replaces")
    broken = butane("node.bu")
    broken["storage"]["files"][0]["contnets"] = broken["storage"]["files"][0].pop("contents")
    broken["systemd"]["units"][0]["enable"] = True
    equal(unknown_fields(broken), ["storage.files.contnets", "systemd.units.enable"], "misspelt fields")


def unit_folder(scratch, config, adapted):
    """the units as Ignition lays them out, with what their drop-ins ask for"""
    for unit in config["systemd"]["units"]:
        if "contents_local" in unit:
            scratch.write(f"units/{unit['name']}", (SOURCE / unit["contents_local"]).read_text())
        else:
            scratch.write(f"units/{unit['name']}", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
        for dropin in unit.get("dropins", ()):
            text = dropin.get("contents") or (SOURCE / dropin["contents_local"]).read_text()
            scratch.write(f"units/{unit['name']}.d/{dropin['name']}", adapted(text))
    return scratch.path("units")


@case(needs="systemd-analyze")
def units_with_their_drop_ins_are_good(scratch):
    for name in ("node.bu", "bootstrap.bu"):
        folder = unit_folder(scratch, butane(name), lambda text: text.replace("/usr/local/bin/resolv-guardian", scratch.binary))
        files = sorted(str(file) for file in folder.glob("*.service"))
        done = scratch.run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *files, code=None,
                           env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"})
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "resolv-guardian" in line or str(folder) in line]
        equal((done.returncode, ours), (0, []), name)


@case()
def the_machine_config_fits_into_etcd(scratch):
    """etcd takes 1.5 MiB a request, and the rendered MachineConfig has the platform's own files beside ours."""
    size = 0
    for path in locals_of(butane("node.bu")):
        bytes_ = pathlib.Path(scratch.binary if path == "dist/resolv-guardian" else SOURCE / path).read_bytes()
        size += len(base64.b64encode(gzip.compress(bytes_, 9)))
    expect(size < 1_300_000, f"{size} bytes")


@case()
def the_environment_has_what_the_policy_asks_for(scratch):
    for name in ("node.bu", "bootstrap.bu"):
        files = {file["path"]: file["contents"] for file in butane(name)["storage"]["files"]}
        policy = (OPENSHIFT / name.replace(".bu", ".toml")).read_text()
        asked = set(re.findall(r"\$\{(\w+)\}", re.sub(r"(?m)^#.*$", "", policy)))
        given = set(re.findall(r"(?m)^(\w+)=", files["/etc/resolv-guardian/environment"]["inline"]))
        equal(asked, given, name)
