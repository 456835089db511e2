"""The OCI archive of all architectures."""
import json
import shutil
import tarfile

from harness import case
from podman import podman_of
from scratch import SOURCE, VERSION
from world import equal, expect

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64le", "s390x": "s390x"}


def binaries(scratch, *architectures):
    """static binaries where they were built; for the others this one stands in: what is tried here is the archive"""
    folder = scratch.path("static")
    folder.mkdir(exist_ok=True)
    for name in architectures:
        made = SOURCE / f"dist/static/resolv-guardian-{VERSION}-{name}"
        shutil.copy(made if made.exists() else scratch.binary, folder / f"resolv-guardian-{VERSION}-{name}")
    return folder


def archive(scratch, name, *words, code=0):
    output = scratch.path(name)
    done = scratch.run(SOURCE / "packaging/container/build", "--binaries", scratch.path("static"), "--output", output, *words,
                       code=code)
    return output, done


@case(needs="podman", tags="slow")
def an_archive_of_four_architectures(scratch):
    podman = podman_of(scratch)
    binaries(scratch, *ARCHITECTURES)
    made, done = archive(scratch, "four.oci.tar")
    equal(done.stderr, "", "what is missing")
    with tarfile.open(made) as tar:
        def blob(digest):
            return tar.extractfile("blobs/" + digest.replace(":", "/"))
        index = json.load(tar.extractfile("index.json"))
        images = json.load(blob(index["manifests"][0]["digest"]))["manifests"]
        equal({image["platform"]["architecture"] for image in images}, set(ARCHITECTURES.values()), "architectures")
        for image in images:
            manifest = json.load(blob(image["digest"]))
            config = json.load(blob(manifest["config"]["digest"]))
            equal(config["architecture"], image["platform"]["architecture"], "the image's own architecture")
            with tarfile.open(fileobj=blob(manifest["layers"][0]["digest"]), mode="r:gz") as layer:
                binary = layer.extractfile("usr/sbin/resolv-guardian").read()
            name = next(key for key, value in ARCHITECTURES.items() if value == config["architecture"])
            given = scratch.path("static", f"resolv-guardian-{VERSION}-{name}").read_bytes()
            expect(binary == given, f"{name}'s image has another binary")
    pulled = podman.run("pull", "--quiet", f"oci-archive:{made}").stdout.split()[-1]
    done = podman.run("run", "--rm", "--network=none", pulled, "--version")
    equal(done.stdout, f"resolv-guardian {VERSION}\n", "the archive, loaded and run")


@case(needs="podman")
def an_archive_is_reproducible_and_says_what_is_missing(scratch):
    binaries(scratch, "x86_64")
    one, done = archive(scratch, "one.oci.tar")
    same, _ = archive(scratch, "same.oci.tar", "x86_64")
    expect(one.read_bytes() == same.read_bytes(), "two archives of the same binary differ")
    expect("missing" in done.stderr and "aarch64 ppc64le s390x" in done.stderr, f"it says {done.stderr!r}")
    _, done = archive(scratch, "two.oci.tar", "x86_64", "s390x", code=1)
    expect("s390x" in done.stderr and not scratch.path("two.oci.tar").exists(), f"it says {done.stderr!r}")
    _, done = archive(scratch, "three.oci.tar", "vax", code=1)
    expect("unknown architecture vax" in done.stderr, f"it says {done.stderr!r}")
