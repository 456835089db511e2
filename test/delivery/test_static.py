"""The static binaries of dist/static: what they are made of, and that each runs on its architecture (qemu-user)."""
import hashlib
import json
import os
import platform
import re
import shutil

from harness import Skip, case
from scratch import DIST, SOURCE, VERSION
from world import conf, guard, wait_for

from checks import equal, expect

ARCHES = {  # architecture: (what readelf calls it, what its compiler is called by, at most so many bytes)
    "x86_64": ("Advanced Micro Devices X86-64", "x86_64", 2_500_000),
    "aarch64": ("AArch64", "aarch64", 2_500_000),
    "ppc64le": ("PowerPC64", "powerpc64le", 3_500_000),
    "s390x": ("IBM S/390", "s390x", 2_500_000),
}
STATIC = DIST / "static"


def name_of(arch):
    return f"resolv-guardian-{VERSION}-{arch}"


def build_of(arch):
    return SOURCE / "build" / ("release" if arch == platform.machine() else f"static/{arch}")


def each(function):
    """a case for each architecture"""
    for arch in ARCHES:
        def play(scratch, arch=arch):
            compiler = f"{ARCHES[arch][1]}-linux-gnu-g++"
            if arch != platform.machine() and not shutil.which(compiler):
                raise Skip(f"needs {compiler}")
            there = (STATIC / name_of(arch)).exists()
            expect(there, f"no {name_of(arch)} in dist/static: packaging/static/build {arch}")
            function(scratch, arch)
        play.__module__, play.__name__ = function.__module__, f"{function.__name__}_{arch}"
        case()(play)
    return function


@case()
def release_has_the_version_of_the_source(scratch):
    equal(scratch.run(scratch.binary, "--version").stdout, f"resolv-guardian {VERSION}\n")


@each
def is_one_small_file(scratch, arch):
    machine, _, most = ARCHES[arch]
    binary = STATIC / name_of(arch)
    header = scratch.run("readelf", "--file-header", "--program-headers", "--sections", "--wide", binary).stdout
    equal(re.search(r"Machine: +(.*)", header).group(1), machine)
    equal(re.findall(r"^ +(?:INTERP|DYNAMIC) .*", header, re.M), [], "asks for a loader")
    equal(re.findall(r"\.symtab|\.debug\S*", header), [], "not stripped")
    expect(binary.stat().st_size <= most, f"{binary.stat().st_size} bytes, at most {most} wanted")


@each
def asks_no_name_service(scratch, arch):
    """NSS loads libraries of the machine at run time. The binary has no symbols, the linker's map has the members."""
    link = (build_of(arch) / "resolv-guardian.map").read_text(errors="replace")
    expect("libc.a(inotify_init" in link, "the map doesn't show what is linked in")
    members = r"\((?:getaddrinfo|gethst\w*|getpwnam|getpwuid|getgrnam|nsswitch|nss_\w+)\.o\)"
    equal(re.findall(members, link), [], "linked in")
    log = (SOURCE / f"{build_of(arch)}.log").read_text(errors="replace")
    equal(re.findall(r".*statically linked applications requires.*", log), [], "the linker's warnings")


@each
def guards_where_it_belongs(scratch, arch):
    qemu = f"qemu-{arch}-static"
    if not shutil.which(qemu):
        raise Skip(f"needs {qemu}")
    world = scratch.world(qemu, binary=STATIC / name_of(arch))
    equal(world.run("--version", code=0).stdout, f"resolv-guardian {VERSION}\n")
    world.configure(guard())
    world.write(conf("192.0.2.53"))
    expect("+nameserver 127.0.0.1" in world.run("check", code=1).stdout, "check shows no change")
    world.run("apply", code=0)
    equal(world.servers(), ["127.0.0.1", "192.0.2.53"], "after apply")
    world.run("check", code=0)
    guardian = world.start()
    world.rename_in(conf("192.0.2.54", "2001:db8::53"))
    world.wait_servers(["127.0.0.1", "192.0.2.54", "2001:db8::53"])
    world.write(conf("192.0.2.55"))
    world.wait_servers(["127.0.0.1", "192.0.2.55"])
    world.wait_state("holds")
    wait_for(lambda: [e["outcome"] for e in world.history("restore")][-1:] == ["restored"], "the last restore in the history")
    world.run("release", code=0)
    equal(world.servers(), ["192.0.2.55"], "after release")
    guardian.stop()


@case()
def checksums_are_those_of_the_files(scratch):
    listed = (STATIC / "SHA256SUMS").read_text().split()[1::2]
    there = [path.name for path in STATIC.iterdir() if path.name.startswith(f"resolv-guardian-{VERSION}-")]
    equal(sorted(listed), sorted(there))
    scratch.run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=STATIC)


@each
def sbom_says_what_is_linked_in(scratch, arch):
    sbom = json.loads((STATIC / f"{name_of(arch)}.spdx.json").read_text())
    equal((sbom["spdxVersion"], sbom["dataLicense"], sbom["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"]), "created is no date")
    packages = {package["SPDXID"]: package for package in sbom["packages"]}
    equal(len(packages), len(sbom["packages"]), "identifiers that stand for one package")
    for name, package in packages.items():
        expect(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), f"{name} is no SPDX identifier")
        fields = {"name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"}
        equal(sorted(fields - package.keys()), [], f"{name} has no")
    binary = packages["SPDXRef-resolv-guardian"]
    equal(binary["checksums"][0]["checksumValue"], hashlib.sha256((STATIC / name_of(arch)).read_bytes()).hexdigest())
    related = [(r["spdxElementId"], r["relatedSpdxElement"]) for r in sbom["relationships"]]
    equal(sorted(b for _, b in related), sorted(packages), "each package is related once")
    links = [r["relatedSpdxElement"] for r in sbom["relationships"] if r["relationshipType"] == "STATIC_LINK"]
    linked = {packages[link]["name"] for link in links}
    equal(linked, {"glibc", "libgcc", "libstdc++"}, "linked in")
    equal({package["name"] for package in packages.values()} - linked - {"resolv-guardian"},
          {"Boost", "fmt", "toml++", "linux-headers"}, "compiled in")


@each
def sbom_has_the_versions_of_the_headers(scratch, arch):
    """what the compiler says of the headers that it includes, against the packages' versions"""
    source = scratch.write("versions.cpp", "#include <boost/version.hpp>\n#include <fmt/core.h>\n"
                           "#include <toml++/toml.h>\n#include <features.h>\n@ BOOST_LIB_VERSION FMT_VERSION "
                           "TOML_LIB_MAJOR.TOML_LIB_MINOR __GLIBC__.__GLIBC_MINOR__ __GNUC__.__GNUC_MINOR__\n")
    settings = next((build_of(arch) / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")).read_text()
    compiler = re.search(r'set\(CMAKE_CXX_COMPILER "(.*)"\)', settings).group(1)
    line = scratch.run(compiler, "-std=c++20", "-E", "-P", source).stdout.split("@ ")[-1]
    boost, fmt, toml, glibc, gcc = re.sub(r'["\s]*\.\s*', ".", line.replace(" . ", ".")).replace('"', "").split()
    expected = {"Boost": boost.replace("_", "."), "fmt": f"{int(fmt) // 10000}.{int(fmt) // 100 % 100}", "toml++": toml,
                "glibc": glibc, "libstdc++": gcc, "libgcc": gcc}
    packages = json.loads((STATIC / f"{name_of(arch)}.spdx.json").read_text())["packages"]
    found = {p["name"]: ".".join(re.split(r"[-+]", p["versionInfo"])[0].split(".")[:2]) for p in packages}
    equal({name: found[name] for name in expected}, expected)


def compare_builds(scratch, arch):
    """once more, from the source archive, in another folder, without a compiler cache"""
    scratch.run(SOURCE / "packaging/dist", scratch.dir)
    scratch.run("tar", "-C", scratch.dir, "-xf", scratch.path(f"resolv-guardian-{VERSION}.tar.gz"))
    folder = scratch.path(f"resolv-guardian-{VERSION}")
    env = {key: value for key, value in os.environ.items() if key != "CMAKE_CXX_COMPILER_LAUNCHER"}
    scratch.run("packaging/static/build", arch, cwd=folder, env=env, timeout=3600)
    for name in (name_of(arch), f"{name_of(arch)}.spdx.json"):
        same = (folder / "dist/static" / name).read_bytes() == (STATIC / name).read_bytes()
        expect(same, f"{name} from {folder} has other bytes")


@each
def is_the_same_from_another_folder(scratch, arch):
    """This machine's own is compared with the RPM's, which is built from the source archive (test_rpm.py)."""
    if not scratch.settings.all:
        raise Skip("a whole build more: test/delivery/run --all")
    compare_builds(scratch, arch)
