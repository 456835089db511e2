"""The manifests: rendered by kustomize, held against the Kubernetes types, and run as a pod."""
import copy
import json
import os

import yaml
from harness import case
from kube import KUBERNETES, kustomize_command, one, rendered, type_errors
from podman import CAPABILITIES, IMAGE, host_of, podman_of
from scratch import VERSION, once
from world import conf, equal, expect, wait_for

NODE_IP = "192.0.2.10"
BINARY = "/usr/sbin/resolv-guardian"  # the Containerfile's ENTRYPOINT
RESOLVER = """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-resolver, namespace: kube-system}
spec:
  selector: {matchLabels: {app: node-resolver}}
  template:
    metadata: {labels: {app: node-resolver}}
    spec:
      hostNetwork: true
      containers: [{name: resolver, image: "resolver:1"}]
"""


def with_sidecar(scratch):
    """a node's resolver with the component in its kustomization"""
    folder = scratch.path("resolver")
    scratch.write("resolver/resolver.yaml", RESOLVER)
    component = os.path.relpath(KUBERNETES / "overlays/sidecar", folder)
    scratch.write("resolver/kustomization.yaml",
                  f"namespace: kube-system\nresources: [resolver.yaml]\ncomponents: [{component}]\n")
    return rendered(scratch, folder)


@once
def all_rendered(scratch):
    return {"base": rendered(scratch, KUBERNETES / "base"), "observe": rendered(scratch, KUBERNETES / "overlays/observe"),
            "sidecar": with_sidecar(scratch)}


def all_of(scratch):
    kustomize_command()  # skips where there is none
    return copy.deepcopy(all_rendered(scratch))


def pod_spec(documents):
    return one(documents, "DaemonSet")["spec"]["template"]["spec"]


def guardian_of(documents):
    return next(c for c in pod_spec(documents)["containers"] if c["name"] == "resolv-guardian")


@case(tags="slow")
def every_field_is_one_that_kubernetes_has(scratch):
    equal(type_errors(scratch, [document for documents in all_of(scratch).values() for document in documents]), "", "errors")


@case()
def a_misspelt_field_is_refused(scratch):
    daemonset = one(all_of(scratch)["base"], "DaemonSet")
    wrong = {"volumeMountz": (("containers", 0), "volumeMounts"), "hostNetwrk": ((), "hostNetwork"),
             "pth": (("volumes", 0, "hostPath"), "path"), "capabilitys": (("containers", 0, "securityContext"), "capabilities")}
    broken = []
    for name, (path, right) in wrong.items():
        broken.append(copy.deepcopy(daemonset))
        it = pod_spec(broken[-1:])
        for key in path:
            it = it[key]
        it[name] = it.pop(right)
    told = type_errors(scratch, [daemonset, *broken])
    for name in wrong:
        expect(f"Object literal may only specify known properties, and '\"{name}\"'" in told, f"{name} passed: {told}")
    equal(told.count("error TS"), len(wrong), f"errors, none of them of the right one: {told}")


@case()
def every_policy_in_a_config_map_is_good(scratch):
    for name, documents in all_of(scratch).items():
        config = scratch.write("config.toml", one(documents, "ConfigMap")["data"]["config.toml"])
        done = scratch.run(scratch.binary, "--config", config, "config", env=dict(os.environ, NODE_IP=NODE_IP))
        expect(f'"{NODE_IP}"' in done.stdout and '"loopback"' in done.stdout, f"{name}: {done.stdout}")
        equal("enforce = false" in done.stdout, name == "observe", f"{name} is only observed")


@case()
def directories_are_mounted_and_never_a_file(scratch):
    for name, documents in all_of(scratch).items():
        volumes = {volume["name"]: volume for volume in pod_spec(documents)["volumes"]}
        mounts = {mount["mountPath"]: mount for mount in guardian_of(documents)["volumeMounts"]}
        for path in ("/etc", "/run"):
            mount = mounts["/host" + path]
            equal(volumes[mount["name"]]["hostPath"], {"path": path, "type": "Directory"}, f"{name}: {path} of the host")
            equal(mount["mountPropagation"], "HostToContainer", f"{name}: propagation of {path}")
            equal(mount.get("readOnly", False), name == "observe", f"{name}: {path} is read-only")
        expect(not any("subPath" in mount for mount in mounts.values()), f"{name}: a subPath is a single file")
        config = volumes[mounts["/etc/resolv-guardian"]["name"]]["configMap"]["name"]
        equal(config, one(documents, "ConfigMap")["metadata"]["name"], f"{name}: the ConfigMap, with the hash of its content")
        expect(config != "resolv-guardian", f"{name}: the ConfigMap's name has no hash: a new policy would be no rollout")


@case()
def it_runs_with_as_little_as_the_container_needs(scratch):
    for name, documents in all_of(scratch).items():
        context = guardian_of(documents)["securityContext"]
        equal(context["capabilities"]["drop"], ["ALL"], f"{name}: dropped")
        equal(sorted(context["capabilities"]["add"]), ["LEASE"] if name == "observe" else sorted(CAPABILITIES), f"{name}: added")
        equal((context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"], context["privileged"]),
              (True, False, False), name)
        if name != "sidecar":  # the pod is the resolver's there
            spec = pod_spec(documents)
            equal(spec["initContainers"][0]["securityContext"]["capabilities"], {"drop": ["ALL"]}, f"{name}: to check a policy")
            equal(spec["automountServiceAccountToken"], False, f"{name}: a service account token")
            equal((spec["priorityClassName"], spec["tolerations"]), ("system-node-critical", [{"operator": "Exists"}]), name)


@case()
def a_probe_asks_the_binary_and_none_kills_for_an_order(scratch):
    for name, documents in all_of(scratch).items():
        guardian = guardian_of(documents)
        probes = {key: guardian[key]["exec"]["command"] for key in guardian if key.endswith("Probe")}
        equal(sorted(probes), ["livenessProbe", "readinessProbe", "startupProbe"], name)
        for probe, command in probes.items():
            equal(command[:2], [BINARY, "status"], f"{name}: {probe}")
            waits = probe == "readinessProbe" and name != "observe"
            equal(command[2:], ["--wait-holds", "3"] if waits else ["--alive"], f"{name}: {probe}")
        if name != "observe":
            expect(guardian["readinessProbe"]["timeoutSeconds"] > 3, f"{name}: kubelet gives up before the binary does")


@case()
def the_sidecar_is_the_base_s_container(scratch):
    """Written twice, for a component can't take a container out of a DaemonSet: they must not drift apart."""
    base, sidecar = all_of(scratch)["base"], all_of(scratch)["sidecar"]
    prefix = "resolv-guardian-"
    beside = guardian_of(sidecar)
    for mount in beside["volumeMounts"]:
        mount["name"] = mount["name"].removeprefix(prefix)
    equal(beside, guardian_of(base), "the container")
    volumes = copy.deepcopy(pod_spec(sidecar)["volumes"])
    for volume in volumes:
        volume["name"] = volume["name"].removeprefix(prefix)
        volume.get("configMap", {}).pop("name", None)
    wanted = copy.deepcopy(pod_spec(base)["volumes"])
    for volume in wanted:
        volume.get("configMap", {}).pop("name", None)
    equal(volumes, wanted, "the volumes")
    equal([c["name"] for c in pod_spec(sidecar)["containers"]], ["resolv-guardian", "resolver"], "containers")


@case()
def the_image_is_that_of_this_version(scratch):
    for name, documents in all_of(scratch).items():
        equal(guardian_of(documents)["image"], f"registry.example/resolv-guardian:{VERSION}", name)


@case()
def an_overlay_with_its_own_policy(scratch):
    """As docs/kubernetes.md shows it: other bytes are another name, and so another pod template."""
    folder = scratch.path("fleet")
    scratch.write("fleet/config.toml", '[[guard]]\n[guard.nameservers]\nfirst = ["${NODE_IP}"]\nfallback = ["192.0.2.53"]\n')
    base = os.path.relpath(KUBERNETES / "base", folder)
    scratch.write("fleet/kustomization.yaml", f"""resources: [{base}]
configMapGenerator:
  - name: resolv-guardian
    namespace: resolv-guardian
    behavior: replace
    files: [config.toml]
""")
    names = set()
    for policy in ("192.0.2.53", "192.0.2.54"):
        text = (folder / "config.toml").read_text()
        (folder / "config.toml").write_text(text.replace("192.0.2.53", policy))
        documents = rendered(scratch, folder)
        names.add(next(v["configMap"]["name"] for v in pod_spec(documents)["volumes"] if "configMap" in v))
    equal(len(names), 2, "names of two policies")


def as_pod(documents, host):
    """The ConfigMap and the DaemonSet's pod, on a host that is a folder. podman knows no status.hostIP, and keeps ConfigMaps as
    volumes of their names, from which the next pod reads what the first one's had."""
    name = os.path.basename(host.dir).replace("_", "-")
    config = copy.deepcopy(one(documents, "ConfigMap"))
    config["metadata"]["name"] = name
    spec = copy.deepcopy(pod_spec(documents))
    spec.pop("priorityClassName"), spec.pop("nodeSelector"), spec.pop("tolerations")
    for container in (*spec["initContainers"], *spec["containers"]):
        container["image"], container["imagePullPolicy"] = IMAGE, "Never"
        container["env"] = [{"name": "NODE_IP", "value": NODE_IP}]
    places = {"/etc": host.path("/etc"), "/run": host.path("/run"), "/var/lib/resolv-guardian": host.state}
    for volume in spec["volumes"]:
        if "hostPath" in volume:
            volume["hostPath"]["path"] = places[volume["hostPath"]["path"]]
        if "configMap" in volume:
            volume["configMap"]["name"] = name
        if "emptyDir" in volume:  # so that the test can ask it from outside
            volume.pop("emptyDir")
            volume["hostPath"] = {"path": host.runtime, "type": "Directory"}
    return config, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"guardian-{name}"}, "spec": spec}


@case(needs="root podman")
def a_refused_policy_starts_no_guardian(scratch):
    """Where the node has a verified policy of before, the guardian alone would go on under it and let the rollout pass."""
    podman, host = podman_of(scratch), host_of(scratch)
    documents = all_of(scratch)["base"]
    config, pod = as_pod(documents, host)
    config["data"]["config.toml"] = config["data"]["config.toml"].replace("first", "frist")
    played = scratch.write("pod.yaml", yaml.safe_dump_all([config, pod]))
    podman.run("play", "kube", played, code=None)
    try:
        name = f"{pod['metadata']['name']}-policy"
        wait_for(lambda: "did you mean `first`?" in podman.run("logs", name, code=None).stderr, f"{name} to refuse it")
        equal(host.run("status", "--alive").returncode, 3, "status without a guardian")
        equal(os.listdir(host.runtime), [], "in the runtime directory")
    finally:
        podman.run("play", "kube", "--down", played, code=None)


@case(needs="root podman")
def the_pod_runs(scratch):
    podman, host = podman_of(scratch), host_of(scratch)
    documents = all_of(scratch)["base"]
    config, pod = as_pod(documents, host)
    host.write(conf("127.0.0.53", "192.0.2.53", header="Generated by NetworkManager"))
    played = scratch.write("pod.yaml", yaml.safe_dump_all([config, pod]))
    # podman 4.3 now and then takes an init container that has just ended for one that runs, and gives up.
    wait_for(lambda: podman.run("play", "kube", "--replace", played, code=None).returncode == 0, "the pod is made", seconds=60)
    try:
        host.wait_servers([NODE_IP, "192.0.2.53"], seconds=30)
        host.rename_in(conf("192.0.2.54"))
        host.wait_servers([NODE_IP, "192.0.2.54"])
        host.write("DNS=192.0.2.77\n", "/run/systemd/netif/links/2")
        host.rename_in(conf("127.0.0.53", header="systemd-resolved's stub"))
        host.wait_servers([NODE_IP, "192.0.2.77"])
        name = f"{pod['metadata']['name']}-resolv-guardian"
        guardian = guardian_of(documents)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            done = podman.run("exec", name, *guardian[probe]["exec"]["command"], code=None)
            equal(done.returncode, 0, f"{probe}: {done.stdout}{done.stderr}")
        checked = podman.run("exec", name, BINARY, "--root", "/host", "check", code=None)
        equal((checked.returncode, checked.stdout), (0, ""), f"check in the pod: {checked.stderr}")
        context = json.loads(podman.run("inspect", name).stdout)[0]
        equal(context["HostConfig"]["ReadonlyRootfs"], True, "read-only")
        equal(sorted(context["EffectiveCaps"]), sorted(f"CAP_{name}" for name in CAPABILITIES), "capabilities")
        os.unlink(host.path())
        os.mkdir(host.path())  # nothing holds any more: not ready, and alive
        host.wait_state("blocked")
        codes = [podman.run("exec", name, *guardian[probe]["exec"]["command"], code=None).returncode
                 for probe in ("livenessProbe", "readinessProbe")]
        equal(codes, [0, 1], "liveness and readiness of a guardian whose order doesn't hold")
    finally:
        podman.run("play", "kube", "--down", played, code=None)
    wait_for(lambda: host.run("status", "--alive").returncode == 3, "its end")
