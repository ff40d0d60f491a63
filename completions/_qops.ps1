
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'qops' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'qops'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'qops' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('queues', 'queues', [CompletionResultType]::ParameterValue, 'The queues with their counts')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'The queues with their counts')
            [CompletionResult]::new('peek', 'peek', [CompletionResultType]::ParameterValue, 'Look at messages; nothing changes')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One message in full, every attempt, and what one can do next')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Counts and ages of queues')
            [CompletionResult]::new('queue', 'queue', [CompletionResultType]::ParameterValue, 'Show or change a queue''s settings, or remove an empty queue')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Hand out nothing of a queue until resume; what runs is finished')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Hand out a paused queue again')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Create the schema, or bring it to this program''s version')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'What is wrong with the store, what it means, and what mends it')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'The script that completes command lines in a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Help of a verb, or about a topic')
            break
        }
        'qops;queues' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;ls' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;peek' {
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'This message; may be given again')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In these states: ready, delayed, blocked, running, dead')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'With this key')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'In this group')
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'That died (dead letters alone) or were enqueued longer ago than this')
            [CompletionResult]::new('--newer-than', '--newer-than', [CompletionResultType]::ParameterName, 'That died or were enqueued within this')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'That died or were enqueued at this time or after it')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'That died or were enqueued at this time or before it')
            [CompletionResult]::new('--error', '--error', [CompletionResultType]::ParameterName, 'With this text in the last error')
            [CompletionResult]::new('--grep', '--grep', [CompletionResultType]::ParameterName, 'With this text in the payload')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'At most so many, counted after the other flags; 0 is all')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many, counted after the other flags; 0 is all')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dead', '--dead', [CompletionResultType]::ParameterName, 'Dead letters: the same as --state dead')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'From the other end')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Exit with 1 where nothing matches')
            [CompletionResult]::new('--exit-status', '--exit-status', [CompletionResultType]::ParameterName, 'Exit with 1 where nothing matches')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;show' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;stats' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--exact', '--exact', [CompletionResultType]::ParameterName, 'Count every message, however long it takes')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;queue' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Change settings; the queue is created if it is not there')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the settings that are in force')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove a queue that has no message, dead letters included')
            break
        }
        'qops;queue;set' {
            [CompletionResult]::new('--max-attempts', '--max-attempts', [CompletionResultType]::ParameterName, 'Starts before a message is a dead letter (default: 7)')
            [CompletionResult]::new('--backoff', '--backoff', [CompletionResultType]::ParameterName, 'Waits before each retry, the last repeats (default: 1s,5s,30s,2m,10m,30m)')
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'How long a claim holds a message (default: 1m)')
            [CompletionResult]::new('--dedup-window', '--dedup-window', [CompletionResultType]::ParameterName, 'How long a key stays taken after its message is done; or ''forever'' (default: 7d)')
            [CompletionResult]::new('--ttl', '--ttl', [CompletionResultType]::ParameterName, 'Time to live of messages that come without their own (default: none)')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;queue;show' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;queue;rm' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;pause' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;resume' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;init' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the statements; change and create nothing')
            [CompletionResult]::new('--grants', '--grants', [CompletionResultType]::ParameterName, 'Print what gives others their rights; change nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;doctor' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'qops;completions' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'qops;help' {
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The store, by its name in the config file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How records are printed: table, json, ndjson, csv, tsv, id or raw')
            [CompletionResult]::new('--fields', '--fields', [CompletionResultType]::ParameterName, 'Only these fields of a record, in this order')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as -o json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: which store, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
