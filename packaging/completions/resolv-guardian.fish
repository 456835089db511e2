# fish completion for resolv-guardian

set -l commands run apply check pause resume release status history config
set -l c complete -c resolv-guardian

$c -f
$c -s h -l help -d 'Print this help'
$c -l version -d 'Print the version'
$c -l config -r -F -d Configuration
$c -l root -x -a '(__fish_complete_directories)' -d 'Guarded paths and their links are inside'
$c -l state-dir -x -a '(__fish_complete_directories)' -d 'What is remembered'
$c -l runtime-dir -x -a '(__fish_complete_directories)' -d 'The control socket'
$c -l log-format -x -a 'text json' -d 'Format of the log'
$c -l log-level -x -a 'debug info warning error' -d 'Level of the log'

$c -l path -r -F -d 'The guarded file'
$c -l first -x -d 'This nameserver stands first'
$c -l last -x -d 'This nameserver stands last'
$c -l only -x -d 'This nameserver and no learned one'
$c -l deny -x -a 'loopback unspecified link-local' -d 'Never this address, prefix or word'
$c -l fallback -x -d 'Where nothing was learned and nothing is remembered'
$c -l search-first -x -d 'This search domain stands first'
$c -l set -x -d 'This resolver option is set'
$c -l max -x -d 'How many nameservers may stand there'
$c -l link -x -a 'follow file' -d 'If the path is a link'
$c -l observe -d 'Watch, learn and record, but never write'

set -l none "not __fish_seen_subcommand_from $commands"
$c -n "$none" -a run -d 'Guard until SIGTERM'
$c -n "$none" -a apply -d 'One pass over all guards, then end'
$c -n "$none" -a check -d 'Write nothing, print what a restore would change'
$c -n "$none" -a pause -d 'Make the running guardian watch and learn, but write nothing'
$c -n "$none" -a resume -d 'End a pause'
$c -n "$none" -a release -d 'Put back what the last writer left, then pause'
$c -n "$none" -a status -d 'State of the running guardian'
$c -n "$none" -a history -d 'The newest rewrites and restores'
$c -n "$none" -a config -d 'Check the configuration, print it with all defaults filled in'

$c -n '__fish_seen_subcommand_from pause resume release' -F
$c -n '__fish_seen_subcommand_from pause' -l for -x -d 'End by itself after 30s, 10m, 2h'
$c -n '__fish_seen_subcommand_from status history' -l json -d 'JSON instead of text'
$c -n '__fish_seen_subcommand_from status' -l wait-holds -x -d 'Wait until every guard holds'
$c -n '__fish_seen_subcommand_from status' -l alive -d 'End with 0 whenever a guardian answers'
$c -n '__fish_seen_subcommand_from history' -s n -x -d 'How many'
$c -n '__fish_seen_subcommand_from history' -l diff -d 'With what each one changed'
