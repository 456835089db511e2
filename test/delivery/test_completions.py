"""The completions, asked of each shell: the commands and options of `--help`, no others."""
import os
import pty

import help_text
from harness import case
from scratch import SOURCE

from checks import equal, wait_for

FOLDER = SOURCE / "packaging/completions"


def compare(scratch, candidates):
    """candidates(words): what the shell offers behind them, the last of which is half a word"""
    equal(sorted(candidates("")), sorted(help_text.commands(scratch)), "commands")
    for command in ("", *help_text.commands(scratch)):
        words = f"{command} -" if command else "-"
        offered = set(candidates(words)) | set(candidates(words + "-"))
        equal(sorted(offered), sorted(help_text.names(scratch, command)), f"options of {command or 'the program'}")
    for option, values in (("--log-format", ["json", "text"]), ("--log-level", ["debug", "error", "info", "warning"]),
                           ("--link", ["file", "follow"]), ("--deny", ["link-local", "loopback", "unspecified"])):
        equal(sorted(candidates(option + " ")), values, f"values of {option}")


@case(needs="bash")
def bash_offers_what_help_says(scratch):
    ask = scratch.write("ask", f"""
source {FOLDER}/resolv-guardian.bash
COMP_WORDS=(resolv-guardian "$@")
COMP_CWORD=$#
_resolv_guardian
printf '%s\\n' "${{COMPREPLY[@]}}"
""")
    compare(scratch, lambda words: scratch.run("bash", ask, *words.split(" ")).stdout.split())


@case(needs="fish")
def fish_offers_what_help_says(scratch):
    ask = f"source {FOLDER}/resolv-guardian.fish; complete -C $argv[1]"
    env = dict(os.environ, HOME=str(scratch.dir), PATH=f"{os.path.dirname(scratch.binary)}:{os.environ['PATH']}")

    def candidates(words):
        lines = scratch.run("fish", "--no-config", "-c", ask, f"resolv-guardian {words}", env=env).stdout.splitlines()
        return [line.split("\t")[0] for line in lines]
    compare(scratch, candidates)


ZSH = """
fpath=({folder} $fpath)
autoload -U compinit && compinit -u -d {dir}/dump
LISTMAX=0
compadd() {{ # what is offered goes to a file: a menu can't be read
  if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- $hits >>{dir}/offered
  return 1
}}
# A terminal keeps keys for itself (^U, say) until the line editor reads it.
zle-line-init() {{ print >{dir}/ready }}
zle -N zle-line-init
"""


@case(needs="zsh")
def zsh_offers_what_help_says(scratch):
    setup = scratch.write("setup", ZSH.format(folder=FOLDER, dir=scratch.dir))
    ours, theirs = pty.openpty()
    scratch.start("setsid", "zsh", "-f", "-i", preexec_fn=lambda: os.dup2(theirs, 0), stdout=theirs, stderr=theirs,
                  env=dict(os.environ, HOME=str(scratch.dir), TERM="dumb"))

    def type_in(text):
        os.write(ours, text.encode())
        path = scratch.path("ready")

        def done():
            os.set_blocking(ours, False)
            try:
                os.read(ours, 65536)  # or it would wait for somebody to read what it shows
            except BlockingIOError:
                pass
            return path.exists()
        wait_for(done, "zsh to wait for a line", 30)
        path.unlink()
    type_in(f". {setup}\n")

    def candidates(words):
        offered = scratch.write("offered", "")
        type_in(f"resolv-guardian {words}\t\x15\n")
        return set(offered.read_text().split())
    compare(scratch, candidates)
