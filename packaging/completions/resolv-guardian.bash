# bash completion for resolv-guardian                                                            -*- shell-script -*-
# Needs nothing of the bash-completion package but that it loads this file.

_resolv_guardian_values() { # the values of the option $1; fails where it takes none that can be listed
  case $1 in
    --config) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    --root | --state-dir | --runtime-dir) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    --path) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    --log-format) mapfile -t COMPREPLY < <(compgen -W "text json" -- "$2") ;;
    --log-level) mapfile -t COMPREPLY < <(compgen -W "debug info warning error" -- "$2") ;;
    --link) mapfile -t COMPREPLY < <(compgen -W "follow file" -- "$2") ;;
    --deny) mapfile -t COMPREPLY < <(compgen -W "loopback unspecified link-local" -- "$2") ;;
    --first | --last | --only | --fallback | --search-first | --set | --max | --for | --wait-holds | -n) COMPREPLY=() ;;
    *) return 1 ;;
  esac
}

_resolv_guardian() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" i
  local commands="run apply check pause resume release status history config"
  local options="-h --help --version --config --root --state-dir --runtime-dir --log-format --log-level"
  options+=" --path --first --last --only --deny --fallback --search-first --set --max --link --observe"
  COMPREPLY=()
  # `=` is a word of its own: COMP_WORDBREAKS.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  _resolv_guardian_values "$previous" "$current" && return
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ " $commands " != *" ${COMP_WORDS[i]} "* || ${COMP_WORDS[i - 1]} == --* ]] || { command=${COMP_WORDS[i]}; break; }
  done
  case $command in
    pause) options+=" --for" ;;
    status) options+=" --json --wait-holds --alive" ;;
    history) options+=" --json -n --diff" ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif [[ $command == pause || $command == resume || $command == release ]]; then
    compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -F _resolv_guardian resolv-guardian
