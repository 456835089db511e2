"""What `--help` says: the commands, and the options before and behind them."""
import re

PROGRAM = ""  # the options that stand anywhere


def commands(scratch):
    text = scratch.run(scratch.binary, "--help").stdout
    return re.findall(r"^  ([a-z]+) ", text.split("\nSubcommands:\n")[1], re.M)


def lines(text):
    """[(names, value, what it says)]"""
    found = re.findall(r"^  (-\S+)(?: ([A-Z]+))?  +(.+)$", text, re.M)
    return [(tuple(names.split(",")), value, says) for names, value, says in found]


def options(scratch):
    """{command, or PROGRAM: [(names, value, what it says)]}, --help of a command left out"""
    all_of = {PROGRAM: lines(scratch.run(scratch.binary, "--help").stdout)}
    for command in commands(scratch):
        behind = lines(scratch.run(scratch.binary, command, "--help").stdout)
        all_of[command] = [option for option in behind if "--help" not in option[0]]
    return all_of


def names(scratch, command=PROGRAM):
    """every option that may stand behind this command"""
    known = options(scratch)
    return {name for of in {PROGRAM, command} for option in known[of] for name in option[0]}
