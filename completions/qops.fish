# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_qops_global_optspecs
    string join \n u/url= c/context= o= json fields= q/quiet v/verbose color= h/help V/version
end

function __fish_qops_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_qops_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_qops_using_subcommand
    set -l cmd (__fish_qops_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c qops -n "__fish_qops_needs_command" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_needs_command" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_needs_command" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_needs_command" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_needs_command" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_needs_command" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_needs_command" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_needs_command" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_needs_command" -s V -l version -d 'Print version'
complete -c qops -n "__fish_qops_needs_command" -f -a "enqueue" -d 'Put messages in'
complete -c qops -n "__fish_qops_needs_command" -f -a "push" -d 'Put messages in'
complete -c qops -n "__fish_qops_needs_command" -f -a "send" -d 'Put messages in'
complete -c qops -n "__fish_qops_needs_command" -f -a "queues" -d 'The queues with their counts'
complete -c qops -n "__fish_qops_needs_command" -f -a "ls" -d 'The queues with their counts'
complete -c qops -n "__fish_qops_needs_command" -f -a "peek" -d 'Look at messages; nothing changes'
complete -c qops -n "__fish_qops_needs_command" -f -a "show" -d 'One message in full, every attempt, and what one can do next'
complete -c qops -n "__fish_qops_needs_command" -f -a "stats" -d 'Counts and ages of queues'
complete -c qops -n "__fish_qops_needs_command" -f -a "requeue" -d 'Make selected messages ready again'
complete -c qops -n "__fish_qops_needs_command" -f -a "retry" -d 'Make selected messages ready again'
complete -c qops -n "__fish_qops_needs_command" -f -a "drain" -d 'Empty the dead letters: replay them, move them, export them, or run a command for each'
complete -c qops -n "__fish_qops_needs_command" -f -a "redrive" -d 'Empty the dead letters: replay them, move them, export them, or run a command for each'
complete -c qops -n "__fish_qops_needs_command" -f -a "purge" -d 'Delete selected messages'
complete -c qops -n "__fish_qops_needs_command" -f -a "work" -d 'Run a command for each message'
complete -c qops -n "__fish_qops_needs_command" -f -a "claim" -d 'Take messages under a lease, for a loop in any language'
complete -c qops -n "__fish_qops_needs_command" -f -a "ack" -d 'A claimed message is done'
complete -c qops -n "__fish_qops_needs_command" -f -a "nack" -d 'A claimed message failed: again later, or dead'
complete -c qops -n "__fish_qops_needs_command" -f -a "extend" -d 'Hold a claimed message longer'
complete -c qops -n "__fish_qops_needs_command" -f -a "queue" -d 'Show or change a queue\'s settings, or remove an empty queue'
complete -c qops -n "__fish_qops_needs_command" -f -a "pause" -d 'Hand out nothing of a queue until resume; what runs is finished'
complete -c qops -n "__fish_qops_needs_command" -f -a "resume" -d 'Hand out a paused queue again'
complete -c qops -n "__fish_qops_needs_command" -f -a "init" -d 'Create the schema, or bring it to this program\'s version'
complete -c qops -n "__fish_qops_needs_command" -f -a "doctor" -d 'What is wrong with the store, what it means, and what mends it'
complete -c qops -n "__fish_qops_needs_command" -f -a "completions" -d 'The script that completes command lines in a shell'
complete -c qops -n "__fish_qops_needs_command" -f -a "help" -d 'Help of a verb, or about a topic'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l file -d 'Read this file instead of standard input' -r -F
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l key -d 'The fact\'s own id, as in payment.approved:42: one live or dead message per key and queue' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l key-from -d 'The key from fields of the JSON, joined by \':\', as in .type,.id' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l on-conflict -d 'What a taken key means: skip prints the id that has it, error is a failure (7)' -r -f -a "skip\t''
error\t''"
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l group -d 'Members of a group run one at a time, in order' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l group-from -d 'The group from fields of the JSON' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l priority -d 'From -9 to 9, higher first' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l at -d 'Ready at this time, as in 2026-12-24T18:00-03:00' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l ttl -d 'Never started after so long: a dead letter then, with reason \'expired\'' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s H -l header -d 'A name and a value beside the payload; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l max-attempts -d 'Starts before it is a dead letter, above every other setting' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l max-payload -d 'The largest payload that is taken' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l lines -d 'A message a line; empty lines are skipped'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s 0 -l null -d 'Messages end with a zero byte, as find -print0 writes them'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l ndjson -d 'A message a line, and each is JSON'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l envelope -d 'A message a line, and each is a record as peek prints it'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l one -d 'All of the input is one message'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l atomic -d 'All or none, in one transaction: at most 100,000 messages and 64 MiB'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l require-durable -d 'Refuse a store that may lose acknowledged messages (4)'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand enqueue" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand push" -l file -d 'Read this file instead of standard input' -r -F
complete -c qops -n "__fish_qops_using_subcommand push" -l key -d 'The fact\'s own id, as in payment.approved:42: one live or dead message per key and queue' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l key-from -d 'The key from fields of the JSON, joined by \':\', as in .type,.id' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l on-conflict -d 'What a taken key means: skip prints the id that has it, error is a failure (7)' -r -f -a "skip\t''
error\t''"
complete -c qops -n "__fish_qops_using_subcommand push" -l group -d 'Members of a group run one at a time, in order' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l group-from -d 'The group from fields of the JSON' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l priority -d 'From -9 to 9, higher first' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l at -d 'Ready at this time, as in 2026-12-24T18:00-03:00' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l ttl -d 'Never started after so long: a dead letter then, with reason \'expired\'' -r
complete -c qops -n "__fish_qops_using_subcommand push" -s H -l header -d 'A name and a value beside the payload; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l max-attempts -d 'Starts before it is a dead letter, above every other setting' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l max-payload -d 'The largest payload that is taken' -r
complete -c qops -n "__fish_qops_using_subcommand push" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand push" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand push" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand push" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand push" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand push" -l lines -d 'A message a line; empty lines are skipped'
complete -c qops -n "__fish_qops_using_subcommand push" -s 0 -l null -d 'Messages end with a zero byte, as find -print0 writes them'
complete -c qops -n "__fish_qops_using_subcommand push" -l ndjson -d 'A message a line, and each is JSON'
complete -c qops -n "__fish_qops_using_subcommand push" -l envelope -d 'A message a line, and each is a record as peek prints it'
complete -c qops -n "__fish_qops_using_subcommand push" -l one -d 'All of the input is one message'
complete -c qops -n "__fish_qops_using_subcommand push" -l atomic -d 'All or none, in one transaction: at most 100,000 messages and 64 MiB'
complete -c qops -n "__fish_qops_using_subcommand push" -l require-durable -d 'Refuse a store that may lose acknowledged messages (4)'
complete -c qops -n "__fish_qops_using_subcommand push" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand push" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand push" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand push" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand send" -l file -d 'Read this file instead of standard input' -r -F
complete -c qops -n "__fish_qops_using_subcommand send" -l key -d 'The fact\'s own id, as in payment.approved:42: one live or dead message per key and queue' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l key-from -d 'The key from fields of the JSON, joined by \':\', as in .type,.id' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l on-conflict -d 'What a taken key means: skip prints the id that has it, error is a failure (7)' -r -f -a "skip\t''
error\t''"
complete -c qops -n "__fish_qops_using_subcommand send" -l group -d 'Members of a group run one at a time, in order' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l group-from -d 'The group from fields of the JSON' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l priority -d 'From -9 to 9, higher first' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l at -d 'Ready at this time, as in 2026-12-24T18:00-03:00' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l ttl -d 'Never started after so long: a dead letter then, with reason \'expired\'' -r
complete -c qops -n "__fish_qops_using_subcommand send" -s H -l header -d 'A name and a value beside the payload; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l max-attempts -d 'Starts before it is a dead letter, above every other setting' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l max-payload -d 'The largest payload that is taken' -r
complete -c qops -n "__fish_qops_using_subcommand send" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand send" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand send" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand send" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand send" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand send" -l lines -d 'A message a line; empty lines are skipped'
complete -c qops -n "__fish_qops_using_subcommand send" -s 0 -l null -d 'Messages end with a zero byte, as find -print0 writes them'
complete -c qops -n "__fish_qops_using_subcommand send" -l ndjson -d 'A message a line, and each is JSON'
complete -c qops -n "__fish_qops_using_subcommand send" -l envelope -d 'A message a line, and each is a record as peek prints it'
complete -c qops -n "__fish_qops_using_subcommand send" -l one -d 'All of the input is one message'
complete -c qops -n "__fish_qops_using_subcommand send" -l atomic -d 'All or none, in one transaction: at most 100,000 messages and 64 MiB'
complete -c qops -n "__fish_qops_using_subcommand send" -l require-durable -d 'Refuse a store that may lose acknowledged messages (4)'
complete -c qops -n "__fish_qops_using_subcommand send" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand send" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand send" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand send" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand queues" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand queues" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand queues" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand queues" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand queues" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand queues" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand queues" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand queues" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand queues" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand ls" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand ls" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand ls" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand ls" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand ls" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand ls" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand ls" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand ls" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand ls" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand peek" -l state -d 'In these states: ready, delayed, blocked, running, dead' -r -f -a "ready\t''
delayed\t''
blocked\t''
running\t''
dead\t''"
complete -c qops -n "__fish_qops_using_subcommand peek" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand peek" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand peek" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand peek" -l dead -d 'Dead letters: the same as --state dead'
complete -c qops -n "__fish_qops_using_subcommand peek" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand peek" -s e -l exit-status -d 'Exit with 1 where nothing matches'
complete -c qops -n "__fish_qops_using_subcommand peek" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand peek" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand peek" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand peek" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand show" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand show" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand show" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand show" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand show" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand show" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand show" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand show" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand show" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand stats" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand stats" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand stats" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand stats" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand stats" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand stats" -l exact -d 'Count every message, however long it takes'
complete -c qops -n "__fish_qops_using_subcommand stats" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand stats" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand stats" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand stats" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l state -d 'In these states: ready, delayed, blocked, running, dead' -r -f -a "ready\t''
delayed\t''
blocked\t''
running\t''
dead\t''"
complete -c qops -n "__fish_qops_using_subcommand requeue" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l expect -d 'Refuse (4) unless exactly so many messages are meant' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand requeue" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand requeue" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand requeue" -l dead -d 'Dead letters: the same as --state dead'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l all -d 'All dead letters, or all of --state'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l keep-attempts -d 'Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l expired -d 'Dead letters whose time to live passed, too'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l yes -d 'Do not ask'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l dry-run -d 'Show what would be done; change nothing'
complete -c qops -n "__fish_qops_using_subcommand requeue" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand requeue" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand requeue" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand requeue" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand retry" -l state -d 'In these states: ready, delayed, blocked, running, dead' -r -f -a "ready\t''
delayed\t''
blocked\t''
running\t''
dead\t''"
complete -c qops -n "__fish_qops_using_subcommand retry" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l expect -d 'Refuse (4) unless exactly so many messages are meant' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand retry" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand retry" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand retry" -l dead -d 'Dead letters: the same as --state dead'
complete -c qops -n "__fish_qops_using_subcommand retry" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand retry" -l all -d 'All dead letters, or all of --state'
complete -c qops -n "__fish_qops_using_subcommand retry" -l keep-attempts -d 'Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run'
complete -c qops -n "__fish_qops_using_subcommand retry" -l expired -d 'Dead letters whose time to live passed, too'
complete -c qops -n "__fish_qops_using_subcommand retry" -l yes -d 'Do not ask'
complete -c qops -n "__fish_qops_using_subcommand retry" -l dry-run -d 'Show what would be done; change nothing'
complete -c qops -n "__fish_qops_using_subcommand retry" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand retry" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand retry" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand retry" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand drain" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l to -d 'Into this queue; a key that it holds is passed over' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l export -d 'Append each to this file (- is stdout) and remove it once its line is there' -r -F
complete -c qops -n "__fish_qops_using_subcommand drain" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l expect -d 'Refuse (4) unless exactly so many messages are meant' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -s j -l jobs -d 'Commands at once [default: 1]' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l lease -d 'How long a message is invisible to others; extended while its command runs [default: the queue\'s, 1m]' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l timeout -d 'End a command that runs longer: TERM, then KILL, to everything it started' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l kill-after -d 'From TERM to KILL [default: 10s]' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l input -d 'The command\'s standard input: stdin is the payload, none is nothing [default: stdin]' -r -f -a "stdin\t''
none\t''"
complete -c qops -n "__fish_qops_using_subcommand drain" -l output -d 'The command\'s output: pass, prefix (whole lines with the id before them) or discard [default: pass]' -r -f -a "pass\t''
prefix\t''
discard\t''"
complete -c qops -n "__fish_qops_using_subcommand drain" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand drain" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand drain" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand drain" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand drain" -l keep-attempts -d 'Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run'
complete -c qops -n "__fish_qops_using_subcommand drain" -l expired -d 'Dead letters whose time to live passed, too'
complete -c qops -n "__fish_qops_using_subcommand drain" -l yes -d 'Do not ask'
complete -c qops -n "__fish_qops_using_subcommand drain" -l dry-run -d 'Show what would be done; change nothing'
complete -c qops -n "__fish_qops_using_subcommand drain" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand drain" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand drain" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand drain" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l to -d 'Into this queue; a key that it holds is passed over' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l export -d 'Append each to this file (- is stdout) and remove it once its line is there' -r -F
complete -c qops -n "__fish_qops_using_subcommand redrive" -l delay -d 'Ready after so long' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l expect -d 'Refuse (4) unless exactly so many messages are meant' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -s j -l jobs -d 'Commands at once [default: 1]' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l lease -d 'How long a message is invisible to others; extended while its command runs [default: the queue\'s, 1m]' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l timeout -d 'End a command that runs longer: TERM, then KILL, to everything it started' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l kill-after -d 'From TERM to KILL [default: 10s]' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l input -d 'The command\'s standard input: stdin is the payload, none is nothing [default: stdin]' -r -f -a "stdin\t''
none\t''"
complete -c qops -n "__fish_qops_using_subcommand redrive" -l output -d 'The command\'s output: pass, prefix (whole lines with the id before them) or discard [default: pass]' -r -f -a "pass\t''
prefix\t''
discard\t''"
complete -c qops -n "__fish_qops_using_subcommand redrive" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand redrive" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand redrive" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand redrive" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l keep-attempts -d 'Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l expired -d 'Dead letters whose time to live passed, too'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l yes -d 'Do not ask'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l dry-run -d 'Show what would be done; change nothing'
complete -c qops -n "__fish_qops_using_subcommand redrive" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand redrive" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand redrive" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand redrive" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand purge" -l state -d 'In these states: ready, delayed, blocked, running, dead' -r -f -a "ready\t''
delayed\t''
blocked\t''
running\t''
dead\t''"
complete -c qops -n "__fish_qops_using_subcommand purge" -l id -d 'This message; may be given again' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l key -d 'With this key' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l group -d 'In this group' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l older-than -d 'That died (dead letters alone) or were enqueued longer ago than this' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l newer-than -d 'That died or were enqueued within this' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l since -d 'That died or were enqueued at this time or after it' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l until -d 'That died or were enqueued at this time or before it' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l error -d 'With this text in the last error' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l grep -d 'With this text in the payload' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -s n -l limit -d 'At most so many, counted after the other flags; 0 is all' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l expect -d 'Refuse (4) unless exactly so many messages are meant' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand purge" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand purge" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand purge" -l dead -d 'Dead letters: the same as --state dead'
complete -c qops -n "__fish_qops_using_subcommand purge" -l reverse -d 'From the other end'
complete -c qops -n "__fish_qops_using_subcommand purge" -l all -d 'All that is ready, delayed and blocked, or all of --state'
complete -c qops -n "__fish_qops_using_subcommand purge" -l keep-keys -d 'Keep the keys taken for the queue\'s window, as after done'
complete -c qops -n "__fish_qops_using_subcommand purge" -l yes -d 'Do not ask'
complete -c qops -n "__fish_qops_using_subcommand purge" -l dry-run -d 'Show what would be done; change nothing'
complete -c qops -n "__fish_qops_using_subcommand purge" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand purge" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand purge" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand purge" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand work" -l max-messages -d 'Stop after so many messages' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l max-time -d 'Stop after so long' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l max-failures -d 'Stop after so many commands that failed (then the exit is 1)' -r
complete -c qops -n "__fish_qops_using_subcommand work" -s j -l jobs -d 'Commands at once [default: 1]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l lease -d 'How long a message is invisible to others; extended while its command runs [default: the queue\'s, 1m]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l timeout -d 'End a command that runs longer: TERM, then KILL, to everything it started' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l kill-after -d 'From TERM to KILL [default: 10s]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l input -d 'The command\'s standard input: stdin is the payload, none is nothing [default: stdin]' -r -f -a "stdin\t''
none\t''"
complete -c qops -n "__fish_qops_using_subcommand work" -l output -d 'The command\'s output: pass, prefix (whole lines with the id before them) or discard [default: pass]' -r -f -a "pass\t''
prefix\t''
discard\t''"
complete -c qops -n "__fish_qops_using_subcommand work" -l grace -d 'How long a worker that stops lets its commands finish' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l max-attempts -d 'Starts before a message is a dead letter [default: the queue\'s, 7]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l backoff -d 'Waits before each retry, the last repeats [default: the queue\'s, 1s,5s,30s,2m,10m,30m]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l exit-map -d 'What exit codes mean, as in 3=dead,4=release: done, fail, temporary, dead, release' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l shell -d 'Instead of a command: a line for sh -c; the payload is on its standard input, nothing is substituted' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l prefetch -d 'Hold at most so many messages beyond those that run [default: a quarter of a lease\'s work, at the pace seen]' -r
complete -c qops -n "__fish_qops_using_subcommand work" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand work" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand work" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand work" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand work" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand work" -l once -d 'One message'
complete -c qops -n "__fish_qops_using_subcommand work" -l wait -d 'Until nothing is ready, delayed, blocked or running'
complete -c qops -n "__fish_qops_using_subcommand work" -l follow -d 'For ever'
complete -c qops -n "__fish_qops_using_subcommand work" -l no-heartbeat -d 'Do not extend leases; a --timeout must be under the lease then'
complete -c qops -n "__fish_qops_using_subcommand work" -l at-most-once -d 'Acknowledge before the command starts: a failure or a crash loses the message'
complete -c qops -n "__fish_qops_using_subcommand work" -l missing-ok -d 'A queue that was never there is an empty one'
complete -c qops -n "__fish_qops_using_subcommand work" -l require-durable -d 'Refuse (4) a store that may lose acknowledged messages'
complete -c qops -n "__fish_qops_using_subcommand work" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand work" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand work" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand work" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand claim" -s n -l limit -d 'At most so many' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -l lease -d 'Hold them so long [default: the queue\'s, 1m]' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -l wait -d 'Wait so long for a first one' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand claim" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand claim" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand claim" -l missing-ok -d 'A queue that was never there is an empty one'
complete -c qops -n "__fish_qops_using_subcommand claim" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand claim" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand claim" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand claim" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand ack" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand ack" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand ack" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand ack" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand ack" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand ack" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand ack" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand ack" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand ack" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand nack" -l delay -d 'A failed attempt, and again after so long instead of by the backoff' -r
complete -c qops -n "__fish_qops_using_subcommand nack" -l error -d 'What went wrong; it becomes the message\'s last error' -r
complete -c qops -n "__fish_qops_using_subcommand nack" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand nack" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand nack" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand nack" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand nack" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand nack" -l dead -d 'A dead letter at once, with reason \'nacked\''
complete -c qops -n "__fish_qops_using_subcommand nack" -l release -d 'As if it had never been claimed: no attempt is charged'
complete -c qops -n "__fish_qops_using_subcommand nack" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand nack" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand nack" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand nack" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand extend" -l lease -d 'Hold it so long from now' -r
complete -c qops -n "__fish_qops_using_subcommand extend" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand extend" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand extend" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand extend" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand extend" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand extend" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand extend" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand extend" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand extend" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -f -a "set" -d 'Change settings; the queue is created if it is not there'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -f -a "show" -d 'Show the settings that are in force'
complete -c qops -n "__fish_qops_using_subcommand queue; and not __fish_seen_subcommand_from set show rm" -f -a "rm" -d 'Remove a queue that has no message, dead letters included'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l max-attempts -d 'Starts before a message is a dead letter [default: 7]' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l backoff -d 'Waits before each retry, the last repeats [default: 1s,5s,30s,2m,10m,30m]' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l lease -d 'How long a claim holds a message [default: 1m]' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l dedup-window -d 'How long a key stays taken after its message is done; or \'forever\' [default: 7d]' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l ttl -d 'Time to live of messages that come without their own [default: none]' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand queue; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand pause" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand pause" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand pause" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand pause" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand pause" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand pause" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand pause" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand pause" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand pause" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand resume" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand resume" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand resume" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand resume" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand resume" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand resume" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand resume" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand resume" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand resume" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand init" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand init" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand init" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand init" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand init" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand init" -l dry-run -d 'Print the statements; change and create nothing'
complete -c qops -n "__fish_qops_using_subcommand init" -l grants -d 'Print what gives others their rights; change nothing'
complete -c qops -n "__fish_qops_using_subcommand init" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand init" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand init" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand init" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand doctor" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand doctor" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand doctor" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand doctor" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand doctor" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand doctor" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand doctor" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand doctor" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c qops -n "__fish_qops_using_subcommand completions" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand completions" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand completions" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand completions" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand completions" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand completions" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand completions" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qops -n "__fish_qops_using_subcommand help" -s u -l url -d 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable' -r
complete -c qops -n "__fish_qops_using_subcommand help" -s c -l context -d 'The store, by its name in the config file' -r
complete -c qops -n "__fish_qops_using_subcommand help" -s o -d 'How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)' -r -f -a "table\t''
json\t''
ndjson\t''
csv\t''
tsv\t''
id\t''
raw\t''"
complete -c qops -n "__fish_qops_using_subcommand help" -l fields -d 'Only these fields of a record, in this order' -r
complete -c qops -n "__fish_qops_using_subcommand help" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c qops -n "__fish_qops_using_subcommand help" -l json -d 'The same as -o json'
complete -c qops -n "__fish_qops_using_subcommand help" -s q -l quiet -d 'Say nothing but errors'
complete -c qops -n "__fish_qops_using_subcommand help" -s v -l verbose -d 'Say more: which store, and why'
complete -c qops -n "__fish_qops_using_subcommand help" -s h -l help -d 'Print help'
