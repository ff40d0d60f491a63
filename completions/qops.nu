module completions {

  def "nu-complete qops format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops color" [] {
    [ "auto" "always" "never" ]
  }

  # Operates work queues: put messages in, run a command for each, look inside, replay what failed
  export extern qops [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops color" # When to use colour
    --help(-h)                # Print help
    --version(-V)             # Print version
  ]

  def "nu-complete qops enqueue on_conflict" [] {
    [ "skip" "error" ]
  }

  def "nu-complete qops enqueue format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops enqueue color" [] {
    [ "auto" "always" "never" ]
  }

  # Put messages in
  export extern "qops enqueue" [
    --file: path              # Read this file instead of standard input
    --lines                   # A message a line; empty lines are skipped
    --null(-0)                # Messages end with a zero byte, as find -print0 writes them
    --ndjson                  # A message a line, and each is JSON
    --envelope                # A message a line, and each is a record as peek prints it
    --one                     # All of the input is one message
    --key: string             # The fact's own id, as in payment.approved:42: one live or dead message per key and queue
    --key-from: string        # The key from fields of the JSON, joined by ':', as in .type,.id
    --on-conflict: string@"nu-complete qops enqueue on_conflict" # What a taken key means: skip prints the id that has it, error is a failure (7)
    --group: string           # Members of a group run one at a time, in order
    --group-from: string      # The group from fields of the JSON
    --priority: string        # From -9 to 9, higher first
    --delay: string           # Ready after so long
    --at: string              # Ready at this time, as in 2026-12-24T18:00-03:00
    --ttl: string             # Never started after so long: a dead letter then, with reason 'expired'
    --header(-H): string      # A name and a value beside the payload; may be given again
    --max-attempts: string    # Starts before it is a dead letter, above every other setting
    --atomic                  # All or none, in one transaction: at most 100,000 messages and 64 MiB
    --max-payload: string     # The largest payload that is taken
    --require-durable         # Refuse a store that may lose acknowledged messages (4)
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops enqueue format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops enqueue color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue; it comes into being if it is not there
    ...payloads: string       # A message each
  ]

  def "nu-complete qops queues format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops queues color" [] {
    [ "auto" "always" "never" ]
  }

  # The queues with their counts
  export extern "qops queues" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops queues format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops queues color" # When to use colour
    --help(-h)                # Print help
  ]

  def "nu-complete qops peek state" [] {
    [ "ready" "delayed" "blocked" "running" "dead" ]
  }

  def "nu-complete qops peek format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops peek color" [] {
    [ "auto" "always" "never" ]
  }

  # Look at messages; nothing changes
  export extern "qops peek" [
    --state: string@"nu-complete qops peek state" # In these states: ready, delayed, blocked, running, dead
    --dead                    # Dead letters: the same as --state dead
    --id: string              # This message; may be given again
    --key: string             # With this key
    --group: string           # In this group
    --older-than: string      # That died (dead letters alone) or were enqueued longer ago than this
    --newer-than: string      # That died or were enqueued within this
    --since: string           # That died or were enqueued at this time or after it
    --until: string           # That died or were enqueued at this time or before it
    --error: string           # With this text in the last error
    --grep: string            # With this text in the payload
    --limit(-n): string       # At most so many, counted after the other flags; 0 is all
    --reverse                 # From the other end
    --exit-status(-e)         # Exit with 1 where nothing matches
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops peek format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops peek color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
    ...ids: string            # These messages; - reads ids or records from standard input, one a line
  ]

  def "nu-complete qops show format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops show color" [] {
    [ "auto" "always" "never" ]
  }

  # One message in full, every attempt, and what one can do next
  export extern "qops show" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops show format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops show color" # When to use colour
    --help(-h)                # Print help
    ...ids: string            # The messages' ids; - reads ids or records from standard input, one a line
  ]

  def "nu-complete qops stats format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops stats color" [] {
    [ "auto" "always" "never" ]
  }

  # Counts and ages of queues
  export extern "qops stats" [
    --exact                   # Count every message, however long it takes
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops stats format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops stats color" # When to use colour
    --help(-h)                # Print help
    ...queues: string         # The queues; all of them where none is named
  ]

  def "nu-complete qops requeue state" [] {
    [ "ready" "delayed" "blocked" "running" "dead" ]
  }

  def "nu-complete qops requeue format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops requeue color" [] {
    [ "auto" "always" "never" ]
  }

  # Make selected messages ready again
  export extern "qops requeue" [
    --state: string@"nu-complete qops requeue state" # In these states: ready, delayed, blocked, running, dead
    --dead                    # Dead letters: the same as --state dead
    --id: string              # This message; may be given again
    --key: string             # With this key
    --group: string           # In this group
    --older-than: string      # That died (dead letters alone) or were enqueued longer ago than this
    --newer-than: string      # That died or were enqueued within this
    --since: string           # That died or were enqueued at this time or after it
    --until: string           # That died or were enqueued at this time or before it
    --error: string           # With this text in the last error
    --grep: string            # With this text in the payload
    --limit(-n): string       # At most so many, counted after the other flags; 0 is all
    --reverse                 # From the other end
    --all                     # All dead letters, or all of --state
    --delay: string           # Ready after so long
    --keep-attempts           # Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run
    --expired                 # Dead letters whose time to live passed, too
    --yes                     # Do not ask
    --dry-run                 # Show what would be done; change nothing
    --expect: string          # Refuse (4) unless exactly so many messages are meant
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops requeue format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops requeue color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
    ...ids: string            # These messages; - reads ids or records from standard input, one a line
  ]

  def "nu-complete qops drain input" [] {
    [ "stdin" "none" ]
  }

  def "nu-complete qops drain output" [] {
    [ "pass" "prefix" "discard" ]
  }

  def "nu-complete qops drain format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops drain color" [] {
    [ "auto" "always" "never" ]
  }

  # Empty the dead letters: replay them, move them, export them, or run a command for each
  export extern "qops drain" [
    --id: string              # This message; may be given again
    --key: string             # With this key
    --group: string           # In this group
    --older-than: string      # That died (dead letters alone) or were enqueued longer ago than this
    --newer-than: string      # That died or were enqueued within this
    --since: string           # That died or were enqueued at this time or after it
    --until: string           # That died or were enqueued at this time or before it
    --error: string           # With this text in the last error
    --grep: string            # With this text in the payload
    --limit(-n): string       # At most so many, counted after the other flags; 0 is all
    --reverse                 # From the other end
    --to: string              # Into this queue; a key that it holds is passed over
    --export: path            # Append each to this file (- is stdout) and remove it once its line is there
    --delay: string           # Ready after so long
    --keep-attempts           # Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run
    --expired                 # Dead letters whose time to live passed, too
    --yes                     # Do not ask
    --dry-run                 # Show what would be done; change nothing
    --expect: string          # Refuse (4) unless exactly so many messages are meant
    --jobs(-j): string        # Commands at once [default: 1]
    --lease: string           # How long a message is invisible to others; extended while its command runs [default: the queue's, 1m]
    --timeout: string         # End a command that runs longer: TERM, then KILL, to everything it started
    --kill-after: string      # From TERM to KILL [default: 10s]
    --input: string@"nu-complete qops drain input" # The command's standard input: stdin is the payload, none is nothing [default: stdin]
    --output: string@"nu-complete qops drain output" # The command's output: pass, prefix (whole lines with the id before them) or discard [default: pass]
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops drain format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops drain color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
  ]

  def "nu-complete qops purge state" [] {
    [ "ready" "delayed" "blocked" "running" "dead" ]
  }

  def "nu-complete qops purge format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops purge color" [] {
    [ "auto" "always" "never" ]
  }

  # Delete selected messages
  export extern "qops purge" [
    --state: string@"nu-complete qops purge state" # In these states: ready, delayed, blocked, running, dead
    --dead                    # Dead letters: the same as --state dead
    --id: string              # This message; may be given again
    --key: string             # With this key
    --group: string           # In this group
    --older-than: string      # That died (dead letters alone) or were enqueued longer ago than this
    --newer-than: string      # That died or were enqueued within this
    --since: string           # That died or were enqueued at this time or after it
    --until: string           # That died or were enqueued at this time or before it
    --error: string           # With this text in the last error
    --grep: string            # With this text in the payload
    --limit(-n): string       # At most so many, counted after the other flags; 0 is all
    --reverse                 # From the other end
    --all                     # All that is ready, delayed and blocked, or all of --state
    --keep-keys               # Keep the keys taken for the queue's window, as after done
    --yes                     # Do not ask
    --dry-run                 # Show what would be done; change nothing
    --expect: string          # Refuse (4) unless exactly so many messages are meant
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops purge format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops purge color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
    ...ids: string            # These messages; - reads ids or records from standard input, one a line
  ]

  def "nu-complete qops work input" [] {
    [ "stdin" "none" ]
  }

  def "nu-complete qops work output" [] {
    [ "pass" "prefix" "discard" ]
  }

  def "nu-complete qops work format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops work color" [] {
    [ "auto" "always" "never" ]
  }

  # Run a command for each message
  export extern "qops work" [
    --once                    # One message
    --wait                    # Until nothing is ready, delayed, blocked or running
    --follow                  # For ever
    --max-messages: string    # Stop after so many messages
    --max-time: string        # Stop after so long
    --max-failures: string    # Stop after so many commands that failed (then the exit is 1)
    --jobs(-j): string        # Commands at once [default: 1]
    --lease: string           # How long a message is invisible to others; extended while its command runs [default: the queue's, 1m]
    --timeout: string         # End a command that runs longer: TERM, then KILL, to everything it started
    --kill-after: string      # From TERM to KILL [default: 10s]
    --input: string@"nu-complete qops work input" # The command's standard input: stdin is the payload, none is nothing [default: stdin]
    --output: string@"nu-complete qops work output" # The command's output: pass, prefix (whole lines with the id before them) or discard [default: pass]
    --no-heartbeat            # Do not extend leases; a --timeout must be under the lease then
    --grace: string           # How long a worker that stops lets its commands finish
    --max-attempts: string    # Starts before a message is a dead letter [default: the queue's, 7]
    --backoff: string         # Waits before each retry, the last repeats [default: the queue's, 1s,5s,30s,2m,10m,30m]
    --exit-map: string        # What exit codes mean, as in 3=dead,4=release: done, fail, temporary, dead, release
    --shell: string           # Instead of a command: a line for sh -c; the payload is on its standard input, nothing is substituted
    --at-most-once            # Acknowledge before the command starts: a failure or a crash loses the message
    --prefetch: string        # Hold at most so many messages beyond those that run [default: a quarter of a lease's work, at the pace seen]
    --missing-ok              # A queue that was never there is an empty one
    --require-durable         # Refuse (4) a store that may lose acknowledged messages
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops work format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops work color" # When to use colour
    --help(-h)                # Print help
    ...queues: string         # The queues; several take turns
  ]

  def "nu-complete qops claim format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops claim color" [] {
    [ "auto" "always" "never" ]
  }

  # Take messages under a lease, for a loop in any language
  export extern "qops claim" [
    --limit(-n): string       # At most so many
    --lease: string           # Hold them so long [default: the queue's, 1m]
    --wait: string            # Wait so long for a first one
    --missing-ok              # A queue that was never there is an empty one
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops claim format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops claim color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
  ]

  def "nu-complete qops ack format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops ack color" [] {
    [ "auto" "always" "never" ]
  }

  # A claimed message is done
  export extern "qops ack" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops ack format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops ack color" # When to use colour
    --help(-h)                # Print help
    ...receipts: string       # Receipts from claim; - reads them, or claim's records, from standard input, one a line
  ]

  def "nu-complete qops nack format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops nack color" [] {
    [ "auto" "always" "never" ]
  }

  # A claimed message failed: again later, or dead
  export extern "qops nack" [
    --delay: string           # A failed attempt, and again after so long instead of by the backoff
    --dead                    # A dead letter at once, with reason 'nacked'
    --release                 # As if it had never been claimed: no attempt is charged
    --error: string           # What went wrong; it becomes the message's last error
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops nack format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops nack color" # When to use colour
    --help(-h)                # Print help
    ...receipts: string       # Receipts from claim; - reads them, or claim's records, from standard input, one a line
  ]

  def "nu-complete qops extend format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops extend color" [] {
    [ "auto" "always" "never" ]
  }

  # Hold a claimed message longer
  export extern "qops extend" [
    --lease: string           # Hold it so long from now
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops extend format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops extend color" # When to use colour
    --help(-h)                # Print help
    ...receipts: string       # Receipts from claim; - reads them, or claim's records, from standard input, one a line
  ]

  def "nu-complete qops queue format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops queue color" [] {
    [ "auto" "always" "never" ]
  }

  # Show or change a queue's settings, or remove an empty queue
  export extern "qops queue" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops queue format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops queue color" # When to use colour
    --help(-h)                # Print help
  ]

  def "nu-complete qops queue set format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops queue set color" [] {
    [ "auto" "always" "never" ]
  }

  # Change settings; the queue is created if it is not there
  export extern "qops queue set" [
    --max-attempts: string    # Starts before a message is a dead letter [default: 7]
    --backoff: string         # Waits before each retry, the last repeats [default: 1s,5s,30s,2m,10m,30m]
    --lease: string           # How long a claim holds a message [default: 1m]
    --dedup-window: string    # How long a key stays taken after its message is done; or 'forever' [default: 7d]
    --ttl: string             # Time to live of messages that come without their own [default: none]
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops queue set format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops queue set color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
  ]

  def "nu-complete qops queue show format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops queue show color" [] {
    [ "auto" "always" "never" ]
  }

  # Show the settings that are in force
  export extern "qops queue show" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops queue show format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops queue show color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
  ]

  def "nu-complete qops queue rm format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops queue rm color" [] {
    [ "auto" "always" "never" ]
  }

  # Remove a queue that has no message, dead letters included
  export extern "qops queue rm" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops queue rm format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops queue rm color" # When to use colour
    --help(-h)                # Print help
    queue: string             # The queue
  ]

  def "nu-complete qops pause format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops pause color" [] {
    [ "auto" "always" "never" ]
  }

  # Hand out nothing of a queue until resume; what runs is finished
  export extern "qops pause" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops pause format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops pause color" # When to use colour
    --help(-h)                # Print help
    ...queues: string         # The queues
  ]

  def "nu-complete qops resume format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops resume color" [] {
    [ "auto" "always" "never" ]
  }

  # Hand out a paused queue again
  export extern "qops resume" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops resume format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops resume color" # When to use colour
    --help(-h)                # Print help
    ...queues: string         # The queues
  ]

  def "nu-complete qops init format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops init color" [] {
    [ "auto" "always" "never" ]
  }

  # Create the schema, or bring it to this program's version
  export extern "qops init" [
    --dry-run                 # Print the statements; change and create nothing
    --grants                  # Print what gives others their rights; change nothing
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops init format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops init color" # When to use colour
    --help(-h)                # Print help
  ]

  def "nu-complete qops doctor format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops doctor color" [] {
    [ "auto" "always" "never" ]
  }

  # What is wrong with the store, what it means, and what mends it
  export extern "qops doctor" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops doctor format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops doctor color" # When to use colour
    --help(-h)                # Print help
  ]

  def "nu-complete qops completions shell" [] {
    [ "bash" "zsh" "fish" "powershell" "elvish" "nushell" ]
  }

  def "nu-complete qops completions format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops completions color" [] {
    [ "auto" "always" "never" ]
  }

  # The script that completes command lines in a shell
  export extern "qops completions" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops completions format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops completions color" # When to use colour
    --help(-h)                # Print help (see more with '--help')
    shell: string@"nu-complete qops completions shell" # The shell
  ]

  def "nu-complete qops help format" [] {
    [ "table" "json" "ndjson" "csv" "tsv" "id" "raw" ]
  }

  def "nu-complete qops help color" [] {
    [ "auto" "always" "never" ]
  }

  # Help of a verb, or about a topic
  export extern "qops help" [
    --url(-u): string         # The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    --context(-c): string     # The store, by its name in the config file
    -o: string@"nu-complete qops help format" # How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    --json                    # The same as -o json
    --fields: string          # Only these fields of a record, in this order
    --quiet(-q)               # Say nothing but errors
    --verbose(-v)             # Say more: which store, and why
    --color: string@"nu-complete qops help color" # When to use colour
    --help(-h)                # Print help
    ...about: string          # A verb or a topic
  ]

}

export use completions *
