"""What benches/run measures. Every figure is of whole processes; every ratio is of pairs in one run."""

import os
import resource
import statistics
import subprocess
import sys
import time

WORK = sys.argv[1]
ONLY = set(sys.argv[2:])
RUNS = int(os.environ.get("RUNS", "5"))
LINES = int(os.environ.get("LINES_COUNT", "1000000"))
NOOPS = int(os.environ.get("NOOPS", "20000"))


def path(name):
    return os.path.join(WORK, name)


def fresh(name):
    for suffix in ("", "-wal", "-shm", ".reserve", "-journal"):
        if os.path.exists(path(name) + suffix):
            os.remove(path(name) + suffix)


def run(command, stdin=None, env=None, stdout=subprocess.DEVNULL):
    """Seconds of wall time, seconds of CPU, and MiB of the largest process of a shell command."""
    start = time.perf_counter()
    with open(stdin or os.devnull) as source:
        child = subprocess.Popen(["sh", "-c", command], stdin=source, stdout=stdout, env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command}: exit {child.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def pairs(ours, theirs):
    """Both in turn, RUNS times after a warm-up; the seconds of each and the ratio theirs/ours (how much faster we are)."""
    a, b = [], []
    for n in range(RUNS + 1):
        x, y = ours(), theirs()
        if n:
            a.append(x)
            b.append(y)
    return a, b, [y / x for x, y in zip(a, b)]


def spread(values, form="{:.2f}"):
    return "{} ({}–{})".format(*(form.format(f(values)) for f in (statistics.median, min, max)))


def row(name, ours, peer, ratio, goal):
    print(f"| {name} | {ours} | {peer} | {ratio} | {goal} |", flush=True)


def compare(name, ours, theirs, goal):
    a, b, ratios = pairs(ours, theirs)
    row(name, spread(a) + " s", spread(b) + " s", spread(ratios) + "×", goal)


def lines_file():
    name = path("lines")
    if not os.path.exists(name):
        with open(name, "w") as out:
            for n in range(LINES):
                out.write(f"{n:0100d}\n")
    return name


def bulk():
    lines = lines_file()

    def ours():
        fresh("q.db")
        return run(f"qops -u sqlite:{path('q.db')} enqueue q --lines", stdin=lines)[0]

    def theirs():
        fresh("i.db")
        script = f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(x);"
        return run(f"sqlite3 {path('i.db')} '{script}' '.import {lines} t'")[0]

    compare(f"bulk enqueue, {LINES:,} lines of 100 B, against sqlite3 .import into a bare table (WAL, FULL)", ours, theirs, "≥ 0.6×")


def single():
    fresh("s.db")
    command = f"qops -u sqlite:{path('s.db')} enqueue q x"
    run(command)
    times = [run(f"exec {command}")[0] * 1000 for _ in range(30)]
    row("one durable enqueue, whole process", spread(times, "{:.1f}") + " ms", "–", "–", "< 25 ms")


def noops():
    items = path("items")
    with open(items, "w") as out:
        out.writelines(f"{n}\n" for n in range(NOOPS))
    noop = path("noop")

    def ours():
        fresh("w.db")
        run(f"qops -u sqlite:{path('w.db')} enqueue q --lines", stdin=items)
        return run(f"qops -u sqlite:{path('w.db')} work q -j2 --timeout 1m -- {noop}")[0]

    def theirs():
        return run(f"xargs -P2 -n1 {noop}", stdin=items)[0]

    compare(f"work -j2 of {NOOPS:,} no-ops (FULL, stdin, stderr kept, timeout armed), against xargs -P2 -n1", ours, theirs, "≥ 1.2×")
    fresh("w.db")
    run(f"qops -u sqlite:{path('w.db')} enqueue q --lines", stdin=items)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, _, _ = run(f"qops -u sqlite:{path('w.db')} work q -j2 -- {noop}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / NOOPS * 1e6
    row("work -j2: CPU a message, the commands included", f"{cpu:.0f} µs", "–", "–", "–")


def memory():
    lines = lines_file()
    fresh("m.db")
    store = f"-u sqlite:{path('m.db')}"
    for name, command, stdin in [
        ("enqueue --lines", f"exec qops {store} enqueue q --lines", lines),
        ("peek", f"exec qops {store} peek q", None),
        ("peek -o json", f"exec qops {store} peek q -o json", None),
        ("peek -o table", f"exec qops {store} peek q -o table", None),
        ("peek -o csv", f"exec qops {store} peek q -o csv", None),
        ("stats --exact", f"exec qops {store} stats q --exact", None),
        ("requeue --state ready", f"exec qops {store} requeue q --state ready --all --yes", None),
        ("peek -o id | requeue -", f"qops {store} peek q -o id | qops {store} requeue q --state ready - ", None),
        ("purge --all", f"exec qops {store} purge q --all --yes", None),
    ]:
        seconds, _, mib = run(command, stdin=stdin)
        row(f"memory of {name} over {LINES:,} messages", f"{mib:.0f} MiB", "–", f"{seconds:.1f} s", "≤ 64 MiB")


def startup():
    fresh("p.db")
    run(f"qops -u sqlite:{path('p.db')} enqueue q x")
    help_ms = [run("exec qops --help")[0] * 1000 for _ in range(20)]
    row("qops --help", spread(help_ms, "{:.1f}") + " ms", "–", "–", "≤ 20 ms")
    ours = lambda: run(f"exec qops -u sqlite:{path('p.db')} peek q -n1")[0] * 1000
    theirs = lambda: run(f"exec sqlite3 {path('p.db')} 'SELECT * FROM qops_messages LIMIT 1'")[0] * 1000
    a, b, _ = pairs(ours, theirs)
    row("peek of one, against sqlite3 of the same file", spread(a, "{:.1f}") + " ms", spread(b, "{:.1f}") + " ms",
        "{:.2f}×".format(statistics.median(a) / statistics.median(b)), "≤ 2× its time")


def changes():
    lines = lines_file()
    base = path("c.db")
    fresh("c.db")
    run(f"qops -u sqlite:{base} enqueue q --lines", stdin=lines)
    bury = ("INSERT INTO qops_dead(id,queue_id,died_at,reason,priority,ready_at,enqueued_at,attempts,deferrals,deliveries,replays,payload) "
            "SELECT id,queue_id,ready_at,\"attempts\",priority,ready_at,enqueued_at,7,0,7,0,payload FROM qops_message; DELETE FROM qops_message; "
            "PRAGMA wal_checkpoint(TRUNCATE)").replace('"', "'")
    with open(path("bury.sql"), "w") as out:
        out.write(bury)
    run(f"sqlite3 {base} < {path('bury.sql')}")

    def copy(name):
        fresh(name)
        run(f"cp {base} {path(name)}")
        return path(name)

    def ours():
        return run(f"qops -u sqlite:{copy('c1.db')} requeue q --all --yes")[0]

    back = ("BEGIN IMMEDIATE; INSERT INTO qops_message(id,queue_id,priority,ready_at,enqueued_at,deliveries,replays,payload) "
            "SELECT id,queue_id,priority,ready_at,enqueued_at,deliveries,replays+1,payload FROM qops_dead; DELETE FROM qops_dead; COMMIT")

    def theirs():
        return run(f"sqlite3 {copy('c2.db')} 'PRAGMA synchronous=FULL' '{back}'")[0]

    global RUNS
    kept, RUNS = RUNS, min(RUNS, 3)
    compare(f"requeue --all of {LINES:,} dead letters, against one set-based statement pair", ours, theirs, "≥ 0.5×")
    RUNS = kept


def size():
    binary = subprocess.run(["sh", "-c", "command -v qops"], capture_output=True, text=True, check=True).stdout.strip()
    mib = os.path.getsize(binary) / (1 << 20)
    tree = subprocess.run(["cargo", "tree", "-e", "normal", "--prefix", "none"], capture_output=True, text=True, check=True).stdout
    crates = len({line.split(" (")[0] for line in tree.splitlines() if line})
    row("stripped binary; crates", f"{mib:.1f} MiB; {crates}", "–", "–", "≤ 9 MiB; ≤ 230")


def main():
    cpus = os.cpu_count()
    print("# Results\n")
    print(f"Written by `benches/run`. {cpus} processors, load {os.getloadavg()[0]:.2f} at the start; the median of {RUNS} with min and max.")
    print("A ratio is how many times faster qops is than its peer in the same run.\n")
    print("| what | qops | peer | ratio | goal |\n|---|---|---|---|---|")
    for name, bench in [("bulk", bulk), ("single", single), ("noops", noops), ("startup", startup), ("memory", memory),
                        ("changes", changes), ("size", size)]:
        if not ONLY or name in ONLY:
            bench()


main()
