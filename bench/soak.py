#!/usr/bin/env python3
"""A long run: 1,000 sockets, 100 sessions and 200 requests a second, and what becomes of the server's memory.

Standard library only; paths as in bench.py. Ten sockets attend each session; one of them answers. The round trip is
the agent's: it holds the way of the request to the client and that of the answer back.

  soak.py [--minutes 10] [--sessions 100] [--viewers 9] [--rate 200]
"""

import argparse
import json
import subprocess
import time
from pathlib import Path

import bench

TARGET = "sayso"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--sessions", type=int, default=100)
    options.add_argument("--viewers", type=int, default=9)
    options.add_argument("--rate", type=float, default=200)
    wanted = options.parse_args()
    for folder in (bench.RESULTS, Path(bench.CWD), Path(bench.CWD).parent / "home"):
        folder.mkdir(parents=True, exist_ok=True)
    target = bench.load_targets([TARGET])[TARGET]
    gap = wanted.sessions / wanted.rate
    asks = round(wanted.minutes * 60 / gap)
    job = bench.ask(asks, gap_us=round(gap * 1e6))
    limit = wanted.minutes * 60 * 1.5 + 60
    with bench.Server(TARGET, target) as server:
        command = [
            *[str(bench.BIN / "load"), "run", "--dialect", target["dialect"], "--port", str(target["port"])],
            *["--sessions", str(wanted.sessions), "--viewers", str(wanted.viewers), "--job", json.dumps(job)],
            *["--server-pid", str(server.p.pid), "--also", target["data"], "--timeout", str(round(limit))],
        ]
        load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        began, memory = time.monotonic(), []
        try:
            while load.poll() is None and time.monotonic() - began < limit + 60:
                memory.append((time.monotonic() - began, server.rss_kb() / 1024))
                time.sleep(5)
            result = bench.last_json(load.communicate(timeout=5)[0])
        finally:
            load.kill()
    # The first tenth is spent on opening the sessions.
    steady = [megabytes for at, megabytes in memory if at > memory[-1][0] / 10] or [0.0]
    half = len(steady) // 2
    rows = [
        ["sockets, sessions", f"{wanted.sessions * (wanted.viewers + 1)}, {wanted.sessions}"],
        ["requests, answered", f"{result.get('asks')}, {result.get('answered')}"],
        ["requests a second", bench.num(result.get("asks_per_s") or 0)],
        ["errors", json.dumps(result.get("errors") or result.get("error") or [])],
        ["round trip p50, p99", f"{(result.get('p50_us') or 0) / 1e3:.1f} ms, {(result.get('p99_us') or 0) / 1e3:.1f} ms"],
        ["processor time of server and runners a request", f"{result.get('server_cpu_us_per_unit') or 0:.0f} µs"],
        ["memory, most", f"{max(steady):.1f} MB"],
        ["memory, first half and second half (mean)", f"{sum(steady[:half]) / max(1, half):.1f} MB, {sum(steady[half:]) / max(1, len(steady) - half):.1f} MB"],
    ]
    bench.table(f"{wanted.minutes:g} minutes", ["", "Sayso"], rows)


if __name__ == "__main__":
    main()
