"""Configuration files: every mistake with its place, and `config` as valid TOML again."""
import os
import pathlib
import re
import tomllib

from harness import case
from world import conf, equal, expect, guard, wait_for

MISTAKES = [  # (the file, line of the mistake, what the message names)
    ("[[guard]]\npth = \"/etc/resolv.conf\"\n", 2, ["pth", "path"]),
    ("[[guard]]\n[guard.nameserver]\nfirst = []\n", 2, ["nameserver", "nameservers"]),
    ("[[guard]]\n[guard.nameservers]\nfrist = [\"127.0.0.1\"]\n", 3, ["frist", "first"]),
    ("[[guard]]\n[guard.nameservers]\nfirst = \"127.0.0.1\"\n", 3, ["first"]),
    ("[[guard]]\n[guard.nameservers]\nfirst = [\n  \"127.0.0.1\",\n  \"127.1\",\n]\n", 5, ["127.1"]),
    ("[[guard]]\nlink = \"folow\"\n", 2, ["folow", "follow"]),
    ("[[guard]]\nsettle = \"200\"\n", 2, ["200"]),
    ("[[guard]]\nmode = \"999\"\n", 2, ["999"]),
    ("[[guard]]\npath = \"etc/resolv.conf\"\n", 2, ["etc/resolv.conf"]),
    ("[[guard]]\n[guard.nameservers]\nfirst = [\"${RG_NOT_SET}\"]\n", 3, ["RG_NOT_SET"]),
    ("ready_withn = \"3s\"\n[[guard]]\n", 1, ["ready_withn", "ready_within"]),
    ("[[guard]]\npath = \"/etc/a\"\n[[guard]]\npath = \"/etc/a\"\n", 4, ["/etc/a"]),
    ("[[guard]]\n[guard.nameservers]\nfirst = [\"1.1.1.1\", \"1.1.1.2\"]\nlast = [\"1.1.1.3\", \"1.1.1.4\"]\n", None, ["max"]),
    ("[[guard]]\n[guard.nameservers]\nonly = [\"1.1.1.1\"]\nfirst = [\"1.1.1.2\"]\n", None, ["only"]),
    ("[[guard]]\n[guard.nameservers]\nfirst = [\"127.0.0.1\"]\ndeny = [\"loopback\"]\n", None, ["127.0.0.1"]),
    ("[[guard]\n", 1, []),
]


@case(tags="sanitize")
def every_mistake_has_its_place(world):
    for text, line, words in MISTAKES:
        world.configure(text)
        said = world.run("config", code=2).stderr
        expect(re.search(rf"config\.toml:{line or '[1-9][0-9]*'}:[1-9]", said), f"no place for {text!r} in {said!r}")
        equal([w for w in words if w not in said], [], f"not named for {text!r} in {said!r}")


@case()
def no_guard_at_all_is_a_mistake(world):
    world.configure('ready_within = "3s"\n')
    expect("guard" in world.run("config", code=2).stderr, "it doesn't say that a guard is missing")


@case(tags="sanitize")
def config_prints_itself_again(world):
    world.configure('ready_within = "never"\n', guard(extra='deny = ["loopback"]\nprefer = ["192.0.2.0/24"]\n[guard.search]\n'
                    'first = ["cluster.example"]\nmerge_lines = true\n[guard.options]\nset = ["edns0", "timeout:2"]',
                    first=["203.0.113.1", "fe80::1%eth0"], settle="50ms", upstream=["/run/NetworkManager/resolv.conf"]),
                    '[[guard]]\npath = "/etc/b\\"\\\\.conf"\n[guard.nameservers]\nonly = []\n')
    printed = world.run("config", code=0).stdout
    tables = tomllib.loads(printed)
    equal(tables["ready_within"], "never")
    equal([g["path"] for g in tables["guard"]], ["/etc/resolv.conf", '/etc/b"\\.conf'])
    first, second = tables["guard"]
    equal((first["enforce"], first["write"], first["mode"], first["nameservers"]["max"]), (True, "auto", "0644", 3), "defaults")
    equal((first["nameservers"]["first"], second["nameservers"]["only"]), (["203.0.113.1", "fe80::1%eth0"], []))
    world.configure(printed)
    equal(world.run("config", code=0).stdout, printed, "config of what config printed")


@case()
def environment_and_config_d(world):
    world.configure(guard(first=["${NODE_IP}"]), guard("/etc/other.conf"))
    os.mkdir(world.dir + "/config.d")
    pathlib.Path(world.dir + "/config.d/50-other.toml").write_text(guard("/etc/other.conf", first=["203.0.113.7"]))
    pathlib.Path(world.dir + "/config.d/ignored.txt").write_text("not TOML")
    tables = tomllib.loads(world.run("config", code=0, env={"NODE_IP": "203.0.113.5"}).stdout)
    equal([(g["path"], g["nameservers"]["first"]) for g in tables["guard"]],
          [("/etc/resolv.conf", ["203.0.113.5"]), ("/etc/other.conf", ["203.0.113.7"])])
    expect("NODE_IP" in world.run("config", code=2).stderr, "an unset variable is not named")


SLIPS = guard(first=["127.0.0.1", "fe80::1"], extra='[guard.options]\nset = ["rotat"]')


def warned(said):
    """of both slips, with their places"""
    expect(re.search(r"warning: \S*config\.toml:4:23: found `fe80::1` in `nameservers\.first`.*zone", said), f"of the zone: {said!r}")
    expect(re.search(r"warning: \S*config\.toml:6:8: found the unknown option `rotat`.*did you mean `rotate`", said),
           f"of the option: {said!r}")


@case(tags="sanitize")
def what_is_hardly_meant_is_warned_of_and_taken(world):
    world.write(conf("192.0.2.53"))
    world.configure(SLIPS)
    warned(world.run("config", code=0).stderr)
    warned(world.run("check", code=1).stderr)
    warned(world.run("apply", code=0).stderr)
    equal((world.servers(), "options rotat\n" in world.read()), (["127.0.0.1", "fe80::1", "192.0.2.53"], True))
    done = world.run("--set", "rotat", "config", code=0, config=False)
    expect("found the unknown option `rotat` in `--set`" in done.stderr, f"of a flag: {done.stderr!r}")


@case()
def run_warns_in_its_log_at_the_start_and_at_a_reload(world):
    world.write(conf("192.0.2.53"))
    world.configure(SLIPS)
    guardian = world.start()
    warned(guardian.log())
    world.configure(guard())
    wait_for(lambda: world.status()["generation"] == 2, "generation 2")
    world.configure(SLIPS)
    wait_for(lambda: guardian.log().count("unknown option") == 2, lambda: f"a second warning in {guardian.log()!r}")


@case()
def no_configuration_file_and_no_flags_is_2(world):
    world.write(conf("192.0.2.53"))
    for command in ("check", "run"):
        said = world.run(command, code=2).stderr
        equal([w for w in (world.config, "--config FILE", "--path", "--first") if w not in said], [], f"not named: {said!r}")
