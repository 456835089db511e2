"""The manual pages: in form, and complete. What the program says of itself is what must stand there."""
import os
import re

import help_text
from harness import case
from scratch import SOURCE

from checks import equal, expect

TABLES = ("guard", "nameservers", "search", "options")  # keys that are headings of their own
PAGES = ("resolv-guardian.8", "resolv-guardian.toml.5")
# What scdoc makes of any page: an empty paragraph where it indents, and the title as it is written.
OF_SCDOC = r"skipping paragraph macro: PP (empty|after S[HS])$"


def source_of(page):
    return (SOURCE / "docs/man" / f"{page}.scd").read_text()


def sections(page):
    """{heading: text}, of both levels"""
    parts = re.split(r"^#+ (.+)\n", source_of(page), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def entries(text):
    """{what is defined, as it is written: its text}"""
    found = re.findall(r"^(\*.+)\n((?:\t.*\n?)+)", text, re.M)
    return {head: " ".join(body.split()) for head, body in found}


def options_of(text):
    """{names: (value, text)}"""
    found = {}
    for head, says in entries(text).items():
        *names, last = re.findall(r"\*(-[^*]+)\*(?: _([A-Z]+)_)?", head)
        found[tuple(n for n, _ in (*names, last))] = (last[1], says)
    return found


@case(needs="mandoc")
def pages_are_in_form(scratch):
    for page in PAGES:
        built = os.path.join(os.path.dirname(scratch.binary), page)
        lint = scratch.run("mandoc", "-T", "lint", "-W", "warning", built, code=None).stdout.splitlines()
        equal([line for line in lint if not re.search(OF_SCDOC, line)], [], page)
        shown = scratch.run("mandoc", "-T", "utf8", built).stdout
        expect("SEE ALSO" in re.sub(".\b", "", shown), f"{page} isn't shown: {shown[:200]}")


@case()
def every_command_stands_in_the_page(scratch):
    heads = entries(sections("resolv-guardian.8")["COMMANDS"])
    equal(sorted(head.split("*")[1] for head in heads), sorted(help_text.commands(scratch)), "commands of the page")


@case()
def every_option_stands_in_the_page(scratch):
    page = sections("resolv-guardian.8")
    for command, options in help_text.options(scratch).items():
        if command == help_text.PROGRAM:
            there = options_of(page["OPTIONS"]) | options_of(page["One guard without a configuration file"])
        else:
            there = options_of(page.get(f"Options of {command}", ""))
        equal(sorted((names, value) for names, (value, _) in there.items()),
              sorted((names, value) for names, value, _ in options), f"options of {command or 'the program'}")
        for names, _, says in options:
            for default in re.findall(r"\[([^]]+)\]", says):
                missing = [word for word in default.split(", ") if word not in there[names][1].replace("*", "")]
                equal(missing, [], f"{names[-1]}: its default in the page")


def printed(scratch, config):
    """{table: {key: value}} of `config`"""
    path = scratch.write("config.toml", config)
    tables, table = {"": {}}, ""
    for line in scratch.run(scratch.binary, "--config", path, "config").stdout.splitlines():
        if line.startswith("["):
            table = line
            tables[table] = {}
        elif line:
            key, value = line.split(" = ", 1)
            tables[table][key] = value
    return tables


def known_keys(scratch, table):
    """what the program expects where it finds a key that there is not"""
    wrong = {"": "zzz = 1\n[[guard]]\n", "[[guard]]": "[[guard]]\nzzz = 1\n",
             "requires": "[[guard]]\nrequires = [{ zzz = 1 }]\n"}.get(table, f"[[guard]]\n{table}\nzzz = 1\n")
    said = scratch.run(scratch.binary, "--config", scratch.write("wrong.toml", wrong), "config", code=2).stderr
    line = next(line for line in said.splitlines() if "the unknown key `zzz`" in line)
    return re.findall(r"`(\w+)`", re.sub(r" \(.*", "", line.split(", expected ")[1]))


@case()
def every_key_stands_in_the_page_with_its_default(scratch):
    page = sections("resolv-guardian.toml.5")
    defaults = printed(scratch, "[[guard]]\n")
    asked = printed(scratch, '[[guard]]\nrequires = [{ nameserver = "192.0.2.1", answers = "a.example" }]\n')
    timeout = re.search(r'timeout = (".*?")', asked["[[guard]]"]["requires"]).group(1)
    tables = {"TOP LEVEL": "", "GUARD": "[[guard]]", "NAMESERVERS": "[guard.nameservers]", "SEARCH": "[guard.search]",
              "OPTIONS": "[guard.options]", "REQUIRES": "requires"}
    for heading, table in tables.items():
        heads = (re.sub(r"[*\\]", "", head) for head in entries(page[heading]))
        there = dict(re.fullmatch(r"(\w+)(?: = (.+))?", head).groups() for head in heads)
        expected = dict.fromkeys((key for key in known_keys(scratch, table) if key not in TABLES), None)
        expected |= {"timeout": timeout} if table == "requires" else defaults[table]
        equal(there, expected, f"the keys of {heading}, with their defaults")
