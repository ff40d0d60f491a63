"""What benches/run measures. Every figure is of whole processes; every ratio is of a pair in one run."""

import os
import resource
import signal
import sqlite3
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


def url(name):
    return f"sqlite:{path(name)}"


def fresh(name):
    for suffix in ("", "-wal", "-shm", ".reserve", "-journal"):
        if os.path.exists(path(name) + suffix):
            os.remove(path(name) + suffix)


def seconds(command, stdin=None):
    """Seconds of wall time of a line for sh, that must succeed."""
    start = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        code = subprocess.run(["sh", "-c", command], stdin=source, stdout=subprocess.DEVNULL).returncode
    if code != 0:
        sys.exit(f"{command}: exit {code}")
    return time.perf_counter() - start


def peak(command, stdin=None):
    """Seconds, and MiB of the largest process in it."""
    start = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run([path("peak"), command], stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return time.perf_counter() - start, int(done.stderr.split()[-1]) / 1024


def sql(name, script):
    with open(path("script.sql"), "w") as out:
        out.write(script)
    return seconds(f"sqlite3 -bail {path(name)}", stdin=path("script.sql"))


def spread(values, form="{:.2f}"):
    return "{} ({}–{})".format(*(form.format(f(values)) for f in (statistics.median, min, max)))


def row(name, ours, peer="–", ratio="–", goal="–"):
    print(f"| {name} | {ours} | {peer} | {ratio} | {goal} |", flush=True)


def race(contenders, runs=None):
    """All in turn, after one round that does not count; the seconds of each."""
    times = [[] for _ in contenders]
    for n in range((runs or RUNS) + 1):
        for contender, taken in zip(contenders, times):
            took = contender()
            if n:
                taken.append(took)
    return times


def compare(name, ours, theirs, goal, runs=None):
    a, b = race([ours, theirs], runs)
    row(name, spread(a) + " s", spread(b) + " s", spread([y / x for x, y in zip(a, b)]) + "×", goal)


def lines_file():
    name = path("lines")
    if not os.path.exists(name):
        with open(name, "w") as out:
            out.writelines(f"{n:0100d}\n" for n in range(LINES))
    return name


def bulk():
    lines = lines_file()

    def ours():
        fresh("q.db")
        return seconds(f"exec qops -q -u {url('q.db')} enqueue q --lines", stdin=lines)

    def theirs():
        fresh("i.db")
        return sql("i.db", f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(x);\n.import {lines} t\n")

    compare(f"enqueue --lines, {LINES:,} of 100 B, against sqlite3 .import into a bare table (WAL, FULL)", ours, theirs, "≥ 0.6×")
    fresh("i.db")


def single():
    fresh("s.db")
    command = f"exec qops -q -u {url('s.db')} enqueue q x"
    seconds(command)
    times = [seconds(command) * 1000 for _ in range(50)]
    row("one durable enqueue, whole process, of 50", spread(times, "{:.1f}") + " ms", goal="< 25 ms")


def noops():
    """Two commands that do nothing: one that starts as C programs do, and one without a C library. On a virtual machine whose
    host answers CPUID the start of the first is nearly all of the time, whoever spawns it, and hides the spawner."""
    items = path("items")
    with open(items, "w") as out:
        out.writelines(f"{n}\n" for n in range(NOOPS))
    for noop, kind in [(path("bare"), "no-ops without libc"), (path("noop"), "no-ops in C")]:
        cpu = []

        def ours():
            fresh("w.db")
            seconds(f"exec qops -q -u {url('w.db')} enqueue q --lines", stdin=items)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = seconds(f"exec qops -q -u {url('w.db')} work q -j2 --timeout 1m -- {noop}")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / NOOPS * 1e6)
            return took

        a, b, c = race([ours, lambda: seconds(f"exec xargs -P2 -n1 {noop}", stdin=items),
                        lambda: seconds(f"exec {path('spawn')} 2 {NOOPS} {noop}")])
        what = f"work -j2 of {NOOPS:,} {kind} (FULL, stdin, stderr kept, timeout armed)"
        for peer, times, goal in [("xargs -P2 -n1", b, "≥ 1.2×"), ("a bare posix_spawn loop of two threads", c, "≥ 0.9×")]:
            row(f"{what}, against {peer}", spread(a) + " s", spread(times) + " s", spread([y / x for x, y in zip(a, times)]) + "×", goal)
        row("the same: CPU a message, the commands included", spread(cpu[1:], "{:.0f}") + " µs")
        row("the bare loop against xargs, for comparison", spread(c) + " s", spread(b) + " s", spread([y / x for x, y in zip(c, b)]) + "×")


def wake():
    """From a producer's commit to the first instruction of the command, in a worker that waits."""
    fresh("k.db")
    seconds(f"exec qops -q -u {url('k.db')} enqueue q first")
    worker = subprocess.Popen(["qops", "-q", "-u", url("k.db"), "work", "q", "--follow", "--", path("stamp")], stdout=subprocess.PIPE)
    worker.stdout.readline()
    producer = sqlite3.connect(path("k.db"), isolation_level=None, timeout=5)
    producer.execute("PRAGMA synchronous=FULL")
    waits = []
    for n in range(500):
        time.sleep(0.01 + (n % 7) / 1000)
        producer.execute("INSERT INTO qops_enqueue(queue, payload) VALUES ('q', 'x')")
        committed = time.time_ns()
        waits.append((int(worker.stdout.readline()) - committed) / 1e6)
    waits.sort()
    row("wake-up: from a producer's commit to the command's start, p50 and p99 of 500",
        f"{waits[250]:.2f} and {waits[494]:.2f} ms", goal="≤ 1 and ≤ 10 ms")

    def ticks():
        # The outer process, and the worker proper.
        pids = [worker.pid, *open(f"/proc/{worker.pid}/task/{worker.pid}/children").read().split()]
        stats = [open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split() for pid in pids]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats)

    before = ticks()
    time.sleep(30)
    idle = (ticks() - before) / os.sysconf("SC_CLK_TCK") / 30 * 100
    row("a worker that waits: CPU in 30 s", f"{idle:.2f} %", goal="≤ 0.1 %")
    worker.send_signal(signal.SIGTERM)
    worker.wait()


def startup():
    fresh("p.db")
    seconds(f"exec qops -q -u {url('p.db')} enqueue q x")
    times = [seconds("exec qops --help") * 1000 for _ in range(50)]
    row("qops --help, of 50", spread(times, "{:.1f}") + " ms", goal="≤ 20 ms")
    a, b = race([lambda: seconds(f"exec qops -u {url('p.db')} peek q -n1") * 1000,
                 lambda: seconds(f"exec sqlite3 {path('p.db')} 'SELECT * FROM qops_messages LIMIT 1'") * 1000], 50)
    row("peek of one, against sqlite3 with the same file, of 50", spread(a, "{:.1f}") + " ms", spread(b, "{:.1f}") + " ms",
        spread([y / x for x, y in zip(a, b)]) + "×", "≥ 0.5×")


def depth():
    fresh("few.db")
    seconds(f"head -n 1000 {lines_file()} | qops -q -u {url('few.db')} enqueue q --lines")
    fresh("many.db")
    seconds(f"exec qops -q -u {url('many.db')} enqueue q --lines", stdin=lines_file())
    for verb in ("peek q -n 20", "stats q"):
        a, b = race([lambda: seconds(f"exec qops -u {url('many.db')} {verb}") * 1000,
                     lambda: seconds(f"exec qops -u {url('few.db')} {verb}") * 1000], 20)
        row(f"{verb} at {LINES:,} messages, against 1,000, of 20", spread(a, "{:.1f}") + " ms", spread(b, "{:.1f}") + " ms",
            spread([y / x for x, y in zip(a, b)]) + "×", "≥ 0.77×; stats ≤ 50 ms")
    fresh("many.db")


# Live messages become dead letters, as many failures would leave them.
BURY = """PRAGMA synchronous=OFF; BEGIN;
INSERT INTO qops_dead(id,queue_id,died_at,reason,priority,ready_at,enqueued_at,attempts,deferrals,deliveries,replays,last_error,payload)
  SELECT id,queue_id,ready_at,'attempts',priority,ready_at,enqueued_at,7,0,7,0,'HTTP 429',payload FROM qops_message;
DELETE FROM qops_message; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"""


def memory():
    lines = lines_file()
    limit = "≤ 64 MiB"

    def look(name, command, stdin=None):
        took, mib = peak(command, stdin)
        row(f"memory: {name} of {LINES:,}", f"{mib:.0f} MiB", ratio=f"{took:.1f} s", goal=limit)

    for name in ("m.db", "d.db"):
        fresh(name)
    m, d = f"qops -q -u {url('m.db')}", f"qops -q -u {url('d.db')}"
    look("enqueue --lines", f"exec {m} enqueue q --lines", lines)
    look("enqueue --lines -o id", f"exec {m} enqueue q2 --lines -o id", lines)
    look("purge q2 --all", f"exec {m} purge q2 --all --yes")
    for form in ("ndjson", "json", "table", "csv", "raw"):
        look(f"peek -o {form}", f"exec {m} peek q -o {form}")
    look("stats --exact", f"exec {m} stats q --exact")
    look("peek -o ndjson, then enqueue --envelope", f"{m} peek q -o ndjson | {d} enqueue q --envelope")
    look("requeue --state ready --all", f"exec {m} requeue q --state ready --all --yes")
    look("peek -o id, then requeue -", f"{m} peek q -o id | {m} requeue q --state ready -")
    look("claim -n", f"exec {m} claim q -n {LINES} -o ndjson > {path('claimed')}")
    look("nack - --release", f"exec {m} nack --release -", path("claimed"))
    sql("d.db", BURY)
    look("peek --dead --error", f"exec {d} peek q --dead --error 429")
    look("requeue --all", f"exec {d} requeue q --all --yes")
    sql("d.db", BURY)
    seconds(f"exec {d} queue set q3 --max-attempts default")
    look("drain --to", f"exec {d} drain q --to q3 --yes")
    sql("d.db", BURY)
    look("drain --export -", f"{d} drain q3 --export - --yes | cat")
    fresh("d.db")
    look("purge by peek -o id", f"{m} peek q -o id | {m} purge q - --yes")
    seconds(f"exec {m} enqueue q --lines", stdin=lines)
    look("claim -n -o table", f"exec {m} claim q -n {LINES} -o table")
    fresh("m.db")


def changes():
    fresh("c.db")
    seconds(f"exec qops -q -u {url('c.db')} enqueue q --lines", stdin=lines_file())
    sql("c.db", "PRAGMA wal_checkpoint(TRUNCATE);")

    def on_a_copy(work):
        def timed():
            fresh("copy.db")
            seconds(f"cp {path('c.db')} {path('copy.db')}")
            return work()
        return timed

    def qops(verb):
        return on_a_copy(lambda: seconds(f"exec qops -q -u {url('copy.db')} {verb}"))

    def statement(script):
        return on_a_copy(lambda: sql("copy.db", f"PRAGMA synchronous=FULL; BEGIN IMMEDIATE; {script} COMMIT;"))

    purge = "DELETE FROM qops_message WHERE queue_id=1;"
    compare(f"purge --all of {LINES:,}, against one DELETE", qops("purge q --all --yes"), statement(purge), "≥ 0.5×", 3)
    sql("c.db", BURY)
    back = """INSERT INTO qops_message(id,queue_id,priority,ready_at,enqueued_at,deliveries,replays,last_error,payload)
      SELECT id,queue_id,priority,ready_at,enqueued_at,deliveries,replays+1,last_error,payload FROM qops_dead WHERE queue_id=1;
      DELETE FROM qops_dead WHERE queue_id=1;"""
    for verb in ("requeue q --all --yes", "drain q --yes"):
        compare(f"{verb.split()[0]} of {LINES:,} dead letters, against one INSERT and one DELETE", qops(verb), statement(back), "≥ 0.5×", 3)
    for name in ("c.db", "copy.db"):
        fresh(name)


def size():
    binary = subprocess.run(["sh", "-c", "command -v qops"], capture_output=True, text=True, check=True).stdout.strip()
    tree = subprocess.run(["cargo", "tree", "--locked", "-e", "normal", "--prefix", "none"], capture_output=True, text=True, check=True)
    crates = len({line.split(" (")[0] for line in tree.stdout.splitlines() if line})
    row("the stripped binary; crates in it", f"{os.path.getsize(binary) / (1 << 20):.1f} MiB; {crates}", goal="≤ 9 MiB; ≤ 230")


def load():
    return f"{os.getloadavg()[0]:.2f}"


def main():
    print("# Results\n")
    print(f"Written by `benches/run` on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}. Load at the start: {load()}.")
    print(f"The median of {RUNS} with min and max, where nothing else is said; a ratio is how many times faster qops is than its peer in")
    print("the same run, the two in turn.\n")
    print("| what | qops | peer | ratio | goal |\n|---|---|---|---|---|")
    for bench in (bulk, single, noops, wake, startup, depth, memory, changes, size):
        if not ONLY or bench.__name__ in ONLY:
            bench()
    print(f"\nLoad at the end: {load()}.")


main()
