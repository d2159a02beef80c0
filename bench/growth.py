#!/usr/bin/env python3
"""How Sayso's cost grows: with sessions, viewers, rules and history.

Standard library only; paths as in bench.py. Each table is one run, smallest to largest and back, and the figures
are told as multiples of the smallest.

  growth.py [--only sessions,viewers,rules,history] [--quick]
"""

import argparse
import json
import os
import sqlite3
import statistics
import sys
import time
import uuid
from pathlib import Path

import bench

TARGET = "sayso"


class Prepared(bench.Server):
    """A server whose data folder was filled before it was started."""

    def __init__(self, target, fill):
        super().__init__(TARGET, target)
        self.fill = fill

    def __enter__(self):
        with bench.Server(TARGET, self.t):
            pass
        database = sqlite3.connect(Path(self.t["data"]) / "sayso.db")
        self.fill(database)
        database.commit()
        database.close()
        self.start_ms = bench.measure_start(TARGET, self.t)["first_ws_ms"]
        remove = bench.shutil.rmtree
        bench.shutil.rmtree = lambda *_, **__: None
        try:
            return super().__enter__()
        finally:
            bench.shutil.rmtree = remove


def rules(count):
    """Rules that do not fit, and one that does."""

    def fill(database):
        now = int(time.time() * 1000)
        words = [f"Bash(tool{number} run:*)" for number in range(count - 1)] + [f"Bash({bench.RULE}:*)"]
        database.executemany(
            "INSERT INTO rules (id, rule, effect, matches, matches_not, enabled, created_at, client_label, hits) VALUES (?, ?, 'allow', '[]', '[]', 1, ?, 'bench', 0)",
            [(str(uuid.uuid4()), word, now) for word in words],
        )

    return fill


def history(count):
    """Entries as they are after so many decisions. Their hashes are made up: nobody checks them here."""

    def fill(database):
        now = int(time.time() * 1000)
        session = str(uuid.uuid4())
        body = json.dumps({"request": {"tool_name": "Bash", "tool_input": {"command": "cargo test " * 20}}, "shown": {}, "outcome": "allowed"})
        row = lambda seq: (seq, now - count + seq, session, str(uuid.uuid4()), bytes(32), bytes(32), body)
        database.executemany(
            "INSERT INTO audit (seq, at, kind, session_id, request_id, project, tool_name, outcome, actor_kind, actor_label, previous, hash, text, body) "
            "VALUES (?, ?, 'decision', ?, ?, '/srv/project', 'Bash', 'allowed', 'human', 'browser', ?, ?, 'cargo test', ?)",
            (row(seq) for seq in range(1, count + 1)),
        )

    return fill


def measured(server, sessions, viewers, job, **more):
    result = bench.run_load(server, sessions, viewers, job, **more)
    if result.get("error") or result.get("errors"):
        raise RuntimeError(f"{sessions} sessions, {viewers} viewers: {result.get('error') or result.get('errors')}")
    return result


def table(title, head, rows):
    bench.table(title, head, [[str(cell) for cell in row] for row in rows])
    sys.stdout.flush()


def times(value, first):
    return f"{value / first:.2f} ×" if first else "-"


def both_ways(sizes, measure):
    """Every size twice, going up and coming down: what else the machine does then hits small and large alike."""
    found = {size: [] for size in sizes}
    for size in [*sizes, *reversed(sizes)]:
        bench.wait_quiet(patience=5)
        found[size].append(measure(size))
        print(f"  {size}: {found[size][-1]}", file=sys.stderr, flush=True)
    return {size: {key: statistics.mean(run[key] for run in runs) for key in runs[0]} for size, runs in found.items()}


def grow_sessions(target, quick):
    def measure(sessions):
        with bench.Server(TARGET, target) as server:
            asks = max(10, (800 if quick else 3000) // sessions)
            result = measured(server, sessions, 0, bench.ask(asks, warmup=3), timeout=120)
            return {"cpu": result["server_cpu_us_per_unit"], "p50": result["p50_us"]}

    found = both_ways([1, 10, 50, 100, 200], measure)
    first = found[1]
    rows = [[size, times(run["cpu"], first["cpu"]), times(run["p50"], first["p50"])] for size, run in found.items()]
    table("Sessions that ask without pause, 200 B", ["sessions", "CPU per ask", "round trip p50"], rows)


def grow_viewers(target, quick):
    def measure(viewers):
        with bench.Server(TARGET, target) as server:
            job = {"stream": 500 if quick else 2000, "chunk": 20}
            result = measured(server, 1, viewers - 1, job, timeout=120)
            return {"cpu": result["server_cpu_us_per_unit"]}

    found = both_ways([1, 10, 100, 1000], measure)
    rows = [[size, times(run["cpu"], found[1]["cpu"]), times(run["cpu"] / size, found[1]["cpu"])] for size, run in found.items()]
    table("Viewers of one session that streams 20 B at a time", ["viewers", "CPU per delta", "CPU per delta and viewer"], rows)


def grow_rules(target, quick):
    def measure(count):
        with Prepared(target, rules(count)) as server:
            result = measured(server, 1, 0, bench.ask(300 if quick else 1000, warmup=20, rule_hit=True), timeout=120)
            return {"cpu": result["server_cpu_us_per_unit"], "p50": result["p50_us"]}

    found = both_ways([10, 100, 1000, 10_000], measure)
    first = found[10]
    rows = [[size, times(run["cpu"], first["cpu"]), times(run["p50"], first["p50"])] for size, run in found.items()]
    table("Rules, the last of which answers, 200 B", ["rules", "CPU per ask", "round trip p50"], rows)


def grow_history(target, quick):
    def measure(count):
        with Prepared(target, history(count)) as server:
            started = server.start_ms
            result = measured(server, 1, 0, bench.ask(300 if quick else 1000, warmup=20), timeout=120)
            return {"cpu": result["server_cpu_us_per_unit"], "p50": result["p50_us"], "start": started, "rss": server.rss_kb() / 1024}

    sizes = [1000, 10_000, 100_000] if quick else [1000, 10_000, 100_000, 1_000_000]
    found = both_ways(sizes, measure)
    first = found[1000]
    rows = [[size, times(run["cpu"], first["cpu"]), times(run["p50"], first["p50"]), f"{run['start']:.0f} ms", f"{run['rss']:.0f} MB"] for size, run in found.items()]
    table("Entries of the history", ["entries", "CPU per ask", "round trip p50", "start to first socket", "memory after the asks"], rows)


TABLES = {"sessions": grow_sessions, "viewers": grow_viewers, "rules": grow_rules, "history": grow_history}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default=",".join(TABLES))
    ap.add_argument("--quick", action="store_true")
    a = ap.parse_args()
    bench.RESULTS.mkdir(exist_ok=True)
    for folder in (Path(bench.CWD), Path(bench.CWD).parent / "home"):
        folder.mkdir(parents=True, exist_ok=True)
    os.environ["BENCH_CWD"] = bench.CWD
    target = bench.load_targets([TARGET])[TARGET]
    for name in a.only.split(","):
        TABLES[name](target, a.quick)


if __name__ == "__main__":
    main()
