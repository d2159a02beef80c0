#!/usr/bin/env python3
"""Runs the scenarios on every target, several rounds, and prints the tables.

Standard library only. Each round starts every target afresh and goes through
the scenarios target by target, so that what else happens on the machine hits
all of them alike. Everything measured is also written to results/<name>.json.

  bench.py [--rounds N] [--targets a,b,c] [--only scenario,scenario] [--name NAME] [--add]
  bench.py --show results/NAME.json          print the tables of an earlier run

Paths come from the environment: BENCH_BIN (built programs), BENCH_PYTHON and
BENCH_NODE (interpreters of the reference servers), BENCH_AGENT (program the
servers start as the agent), BENCH_CWD (working directory of the agents),
BENCH_PORT_BASE. The targets are read from targets.json beside this file.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BIN = Path(os.environ.get("BENCH_BIN", ROOT)).resolve()
AGENT = os.environ.get("BENCH_AGENT", str(BIN / "fake_agent"))
SAYSO = str(Path(os.environ.get("BENCH_SAYSO", ROOT.parent / "target/release/sayso")).resolve())
PYTHON = os.environ.get("BENCH_PYTHON", str(ROOT / "venv/bin/python"))
NODE = os.environ.get("BENCH_NODE", "node")
CWD = os.environ.get("BENCH_CWD", str(ROOT / "work/cwd"))
RESULTS = Path(os.environ.get("BENCH_RESULTS", ROOT / "results"))
PORT_BASE = int(os.environ.get("BENCH_PORT_BASE", "18700"))
RULE = "benchrule"
P99_LIMIT_US = 50_000
IDLE = 150  # sessions held open for the memory figures


def ask(n, *, parallel=1, size=200, warmup=0, **more):
    job = {"asks": n, "parallel": parallel, "size": size, "warmup": warmup, **more}
    if size > 10_000:
        job["tool"] = "Write"
    return job


K64 = 65536
# name: (title, sessions, viewers, job, extra options)
SCENARIOS = {
    "seq": ("1 session x 2000 asks, one at a time, 200 B", 1, 0, ask(2000, warmup=200), {}),
    "par5": ("1 session x 2000 asks, 5 parallel, 200 B", 1, 0, ask(2000, parallel=5, warmup=200), {}),
    "s20": ("20 sessions x 200 asks, 200 B", 20, 0, ask(200, warmup=20), {}),
    "s100": ("100 sessions x 50 asks, 200 B", 100, 0, ask(50, warmup=5), {}),
    "paced": ("1 session x 300 asks, 5 ms apart, 200 B", 1, 0, ask(300, warmup=20, gap_us=5000), {}),
    "bare": ("1 session x 2000 asks, no transcript around them, 200 B", 1, 0, ask(2000, warmup=200, quiet=True), {}),
    "rule": ("1 session x 2000 asks answered by a rule, 200 B", 1, 0, ask(2000, warmup=200, rule_hit=True), {"rule": True}),
    "seq64k": ("1 session x 2000 asks, one at a time, 64 KB", 1, 0, ask(2000, size=K64, warmup=50), {}),
    "par5_64k": ("1 session x 2000 asks, 5 parallel, 64 KB", 1, 0, ask(2000, parallel=5, size=K64, warmup=50), {}),
    "s20_64k": ("20 sessions x 200 asks, 64 KB", 20, 0, ask(200, size=K64, warmup=5), {}),
    "s100_64k": ("100 sessions x 50 asks, 64 KB", 100, 0, ask(50, size=K64, warmup=2), {}),
    "stream1": ("10 000 deltas of 20 B to 1 viewer", 1, 0, {"stream": 10000, "chunk": 20}, {}),
    "stream20": ("10 000 deltas of 20 B to 20 viewers", 1, 19, {"stream": 10000, "chunk": 20}, {}),
    "stalled": ("1 session x 400 asks, 64 KB, a second viewer that never reads", 1, 0, ask(400, size=K64), {"stalled": 1, "timeout": 12}),
}
SPECIAL = ["start", "memory", "maxsess", "maxsess10hz"]


# ------------------------------------------------------------------- targets


def load_targets(names):
    table = json.loads((ROOT / "targets.json").read_text())
    out = {}
    for i, name in enumerate(names):
        t = table[name]
        t["port"] = PORT_BASE + list(table).index(name)
        t["data"] = str(Path(CWD).parent / f"data-{name}")
        fill = dict(python=PYTHON, node=NODE, sayso=SAYSO, root=str(ROOT), bin=str(BIN), port=str(t["port"]), agent=AGENT, data=t["data"])
        t["cmd"] = [a.format(**fill) for a in t["cmd"]]
        t["rule"] = [a.format(**fill) for a in t.get("rule", [])]
        t["env"] = {k: v.format(**fill) for k, v in t.get("env", {}).items()}
        out[name] = t
    return out


def environment(t, rule=False):
    env = {**os.environ, "HOME": str(Path(CWD).parent / "home"), "BENCH_AGENT": AGENT, "BENCH_CWD": CWD, "BENCH_PORT": str(t["port"]), **t["env"]}
    env["BENCH_ALLOW"] = RULE if rule else ""
    return env


class Server:
    """A target, started and ended by its process id."""

    def __init__(self, name, t, rule=False):
        self.name, self.t, self.rule = name, t, rule

    def __enter__(self):
        cmd = list(self.t["cmd"])
        shutil.rmtree(self.t["data"], ignore_errors=True)
        if self.rule and self.t.get("floor"):
            cmd += ["--answer", "1"]
        self.log = open(RESULTS / f"{self.name}.log", "ab")
        self.p = subprocess.Popen(cmd, env=environment(self.t, self.rule), stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 20
        while True:
            if self.p.poll() is not None:
                raise RuntimeError(f"{self.name} ended at start, see {self.log.name}")
            try:
                socket.create_connection(("127.0.0.1", self.t["port"]), 0.5).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        time.sleep(0.3)
        if self.p.poll() is not None:
            raise RuntimeError(f"something else listens on port {self.t['port']}, so {self.name} ended, see {self.log.name}")
        if self.rule and self.t["rule"]:
            subprocess.run(self.t["rule"], check=True, stdout=self.log, stderr=self.log)
        return self

    def __exit__(self, *exc):
        self.p.send_signal(signal.SIGTERM)
        try:
            self.p.wait(5)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        self.log.close()

    def rss_kb(self):
        for line in Path(f"/proc/{self.p.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def cpu_ns(self):
        return sum(int((t / "schedstat").read_text().split()[0]) for t in Path(f"/proc/{self.p.pid}/task").iterdir())

    def threads(self):
        return len(os.listdir(f"/proc/{self.p.pid}/task"))

    def children(self):
        out = []
        for task in Path(f"/proc/{self.p.pid}/task").iterdir():
            try:
                out += (task / "children").read_text().split()
            except OSError:
                pass
        return out


# ------------------------------------------------------------------ measuring


def busy(seconds=0.25):
    def read():
        v = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        return sum(v), v[3] + v[4]

    t0, i0 = read()
    time.sleep(seconds)
    t1, i1 = read()
    return 1 - (i1 - i0) / max(1, t1 - t0)


def wait_quiet(limit=0.2, patience=20):
    """Wait for others to leave the CPUs alone, but not for ever."""
    end = time.monotonic() + patience
    b = busy()
    while b > limit and time.monotonic() < end:
        time.sleep(0.5)
        b = busy()
    return round(b, 2)


def last_json(text):
    lines = [l for l in text.splitlines() if l.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": "no output: " + text[-300:]}


def run_load(srv, sessions, viewers, job, stalled=0, timeout=55, **_):
    t = srv.t
    common = ["--port", str(t["port"]), "--sessions", str(sessions), "--viewers", str(viewers), "--job", json.dumps(job)]
    common += ["--server-pid", str(srv.p.pid)]
    if t.get("dialect") == "sayso":
        common += ["--also", t["data"]]
    if t.get("floor"):
        cmd = [str(BIN / "floor"), "client", *common, "--echo", t.get("echo", "1")]
        if srv.rule:
            cmd += ["--silent", "1"]
    else:
        cmd = [str(BIN / "load"), "run", "--dialect", t["dialect"], *common, "--timeout", str(timeout)]
        if stalled:
            cmd += ["--stalled", str(stalled)]
    try:
        p = subprocess.run(cmd, capture_output=True, text=True, timeout=timeout + 30)
    except subprocess.TimeoutExpired:
        return {"error": "client timeout"}
    return last_json(p.stdout)


def measure_start(name, t):
    if t.get("floor"):
        return None
    cmd = [str(BIN / "load"), "probe", "--dialect", t["dialect"], "--port", str(t["port"]), "--", *t["cmd"]]
    p = subprocess.run(cmd, capture_output=True, text=True, timeout=60, env=environment(t))
    return last_json(p.stdout)


def runners_of(srv):
    """The processes that hold the agents of this server, found by its data folder."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"runner" in words and any(w.startswith(os.fsencode(srv.t["data"])) for w in words):
            yield folder


def runner_pss_kb(folder):
    """What it has for itself, and its share of what all of them have together."""
    rollup = (folder / "smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))


def held(srv, sessions, pending=0, job=None, viewers=0):
    """RSS, threads and child processes with `sessions` open (and asks left open)."""
    cmd = [str(BIN / "load"), "hold", "--dialect", srv.t["dialect"], "--port", str(srv.t["port"]), "--sessions", str(sessions), "--viewers", str(viewers)]
    if pending:
        cmd += ["--pending", str(pending), "--job", json.dumps(job)]
    p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = p.stdout.readline()
        if not json.loads(line or "{}").get("ready"):
            raise RuntimeError(f"hold: {line}")
        time.sleep(1.0)
        cpu = srv.cpu_ns()
        time.sleep(2.0)
        cpu = srv.cpu_ns() - cpu
        kids = srv.children()
        agents = [int(Path(f"/proc/{k}/statm").read_text().split()[1]) * 4 for k in kids]
        runners = [runner_pss_kb(p) for p in runners_of(srv)]
        return {"runner_pss_kb": statistics.median(runners or [0]), "rss_kb": srv.rss_kb(), "idle_cpu_ms_per_s": cpu / 2e6, "threads": srv.threads(), "children": len(kids), "agent_rss_kb": statistics.median(agents or [0])}
    finally:
        p.stdin.close()
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            p.kill()


def measure_memory(name, t):
    if t.get("floor"):
        return None
    out = {}
    with Server(name, t) as s:
        time.sleep(0.5)
        out["idle_kb"] = s.rss_kb()
        held(s, 1)
        out["warm_kb"] = s.rss_kb()
        h = held(s, IDLE)
        out["per_session_kb"] = (h["rss_kb"] - out["warm_kb"]) / IDLE
        out["children_per_session"] = h["children"] / IDLE
        out["threads"] = h["threads"]
        out["idle_cpu_ms_per_s"] = h["idle_cpu_ms_per_s"]
        out["agent_rss_kb"] = h["agent_rss_kb"]
        out["runner_pss_kb"] = h["runner_pss_kb"]
    with Server(name, t) as s:
        held(s, 1)
        few, many = (held(s, 1, viewers=n)["rss_kb"] for n in (IDLE, 3 * IDLE))
        out["per_socket_kb"] = (many - few) / (2 * IDLE)
    for label, size, sessions, per in (("200B", 200, 40, 80), ("64KB", K64, 10, 10)):
        few, many = (pending_rss(name, t, sessions, n, size) for n in (per, 3 * per))
        out[f"per_pending_{label}_kb"] = (many - few) / (sessions * 2 * per)
    return out


def pending_rss(name, t, sessions, per, size):
    """With that many asks of each session left open, in a server of its own. So many that a megabyte, which
    differs from one server to the next, is a small part."""
    with Server(name, t) as s:
        held(s, 1)
        return held(s, sessions, per, ask(per, parallel=per, size=size, gap_us=2000))["rss_kb"]


def measure_max(name, t, gap_us, hint):
    """Most sessions asking at once (each `gap_us` after its last answer) with
    the p99 round trip under the limit: up the ladder in steps of 1.25, then one
    step between."""
    ladder, x = [], 4.0
    while x < 700:
        ladder.append(int(round(x)))
        x *= 1.25
    tried = {}

    def ok(n):
        if n not in tried:
            with Server(name, t) as s:
                asks = 25 if gap_us else max(20, min(200, 3000 // n))
                r = run_load(s, n, 0, ask(asks, warmup=4, gap_us=gap_us), timeout=40)
                good = not r.get("error") and not r.get("errors") and r.get("ok") == n
                tried[n] = r.get("p99_us") if good else float("inf")
        return tried[n] <= P99_LIMIT_US

    i = min(range(len(ladder)), key=lambda k: abs(ladder[k] - hint)) if hint else 6
    while i > 0 and not ok(ladder[i]):
        i -= 2 if not hint else 1
        i = max(i, 0)
    while i + 1 < len(ladder) and ok(ladder[i + 1]):
        i += 1
    best = ladder[i]
    if i + 1 < len(ladder):
        mid = (ladder[i] + ladder[i + 1]) // 2
        if mid > best and ok(mid):
            best = mid
    return {"sessions": best, "capped": i + 1 >= len(ladder), "tried": {str(k): v for k, v in sorted(tried.items())}}


# --------------------------------------------------------------------- report


def med(rows, key, scale=1.0):
    v = [r[key] * scale for r in rows if r and isinstance(r.get(key), (int, float))]
    return (statistics.median(v), min(v), max(v)) if v else None


def num(x):
    if x >= 10000:
        return f"{x/1000:.0f}k" if x >= 100_000 else f"{x/1000:.1f}k"
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 1 else f"{x:.2f}"


def cell(m):
    if m is None:
        return "-"
    return f"{num(m[0])} ({num(m[1])}-{num(m[2])})"


def ratio(rows, base, key):
    """Median of the quotients within each round: what the machine did in that
    round is in both figures."""
    v = [r[key] / b[key] for r, b in zip(rows, base) if r and b and r.get(key) and b.get(key)]
    return (statistics.median(v), min(v), max(v)) if v else None


def table(title, head, rows):
    print(f"\n### {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|")
    for r in rows:
        print("| " + " | ".join(r) + " |")


def show(data):
    names = data["targets"]
    runs = data["runs"]
    get = lambda sc, n: runs.get(sc, {}).get(n, [])
    print(f"\n{data['rounds']} rounds; median (smallest-largest). {data['machine']}")
    asks = [s for s in SCENARIOS if s in runs and not s.startswith("stream") and s != "stalled"]
    if asks:
        for what, key, scale, unit in (
            ("Round trip p50", "p50_us", 1, "µs"),
            ("Round trip p99", "p99_us", 1e-3, "ms"),
            ("Server CPU per ask", "server_cpu_us_per_unit", 1, "µs"),
            ("Asks per second, all sessions", "asks_per_s", 1, "1/s"),
        ):
            table(f"{what} ({unit})", ["scenario", *names], [[SCENARIOS[s][0], *[cell(med(get(s, n), key, scale)) for n in names]] for s in asks])
        base = "floor" if "floor" in names else names[-1]
        for what, key in (("Round trip p50", "p50_us"), ("Server CPU per ask", "server_cpu_us_per_unit")):
            others = [n for n in names if n != base]
            table(f"{what}, times that of {base} in the same round", ["scenario", *others], [[SCENARIOS[s][0], *[cell(ratio(get(s, n), get(s, base), key)) for n in others]] for s in asks])
    streams = [s for s in SCENARIOS if s in runs and s.startswith("stream")]
    if streams:
        for what, key, scale in (
            ("Deltas per second to each viewer", "deltas_per_s_each", 1),
            ("Frames per second, all viewers", "deltas_per_s_total", 1),
            ("Server CPU per delta (µs, all viewers together)", "server_cpu_us_per_unit", 1),
            ("Server peak memory (MB)", "server_peak_kb", 1 / 1024),
        ):
            table(what, ["scenario", *names], [[SCENARIOS[s][0], *[cell(med(get(s, n), key, scale)) for n in names]] for s in streams])
    if "stalled" in runs:
        rows = []
        for n in names:
            rs = get("stalled", n)
            if rs:
                rows.append([n, f"{sum(1 for r in rs if r.get('ok') == 1)} of {len(rs)}", cell(med([r for r in rs if r.get("ok") == 1], "p99_us", 1e-3)), cell(med(rs, "client_asks")), cell(med(rs, "server_peak_kb", 1 / 1024))])
        table(SCENARIOS["stalled"][0], ["target", "runs finished", "p99 ms", "asks served", "peak MB"], rows)
    if "start" in runs:
        table("Start-up", ["target", "to first accepted WebSocket ms", "first session ready ms", "RSS MB"], [[n, cell(med(get("start", n), "first_ws_ms")), cell(med(get("start", n), "first_session_ms")), cell(med(get("start", n), "rss_kb", 1 / 1024))] for n in names if get("start", n)])
    if "memory" in runs:
        cols = [("idle RSS MB", "idle_kb", 1 / 1024), ("after first session MB", "warm_kb", 1 / 1024), ("per idle session with its socket KB", "per_session_kb", 1), ("per idle socket KB", "per_socket_kb", 1), ("processes per session", "children_per_session", 1), (f"threads with {IDLE} sessions", "threads", 1), (f"CPU with {IDLE} idle sessions ms/s", "idle_cpu_ms_per_s", 1), ("per pending 200 B KB", "per_pending_200B_kb", 1), ("per pending 64 KB KB", "per_pending_64KB_kb", 1), ("fake agent RSS KB", "agent_rss_kb", 1), ("runner PSS KB", "runner_pss_kb", 1)]
        table("Memory of the server process", ["target", *[c[0] for c in cols]], [[n, *[cell(med(get("memory", n), k, s)) for _, k, s in cols]] for n in names if get("memory", n)])
    for key, title in (("maxsess", "Most sessions asking without pause, p99 under 50 ms"), ("maxsess10hz", "Most sessions asking 100 ms after each answer, p99 under 50 ms")):
        if key in runs:
            table(title, ["target", "sessions"], [[n, cell(med(get(key, n), "sessions")) + (" (ladder ends)" if any(r.get("capped") for r in get(key, n)) else "")] for n in names if get(key, n)])
    ready = [s for s in ("s20", "s100") if s in runs]
    if ready:
        table("Opening a session, 4 at a time (ms, median session)", ["scenario", *names], [[SCENARIOS[s][0], *[cell(med(get(s, n), "session_ready_ms")) for n in names]] for s in ready])


# ----------------------------------------------------------------------- main


def main():
    # Whoever ends this run ends the server that is being measured, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--targets", default="ref_py,ref_node,min_rs,floor")
    ap.add_argument("--only", default="")
    ap.add_argument("--name", default="latest")
    ap.add_argument("--add", action="store_true", help="keep the other scenarios of an earlier run of this name")
    ap.add_argument("--show", default="")
    a = ap.parse_args()
    if a.show:
        return show(json.loads(Path(a.show).read_text()))
    names = [n for n in a.targets.split(",") if n]
    only = [s for s in a.only.split(",") if s] or [*SCENARIOS, *SPECIAL]
    RESULTS.mkdir(exist_ok=True)
    for folder in (Path(CWD), Path(CWD).parent / "home"):
        folder.mkdir(parents=True, exist_ok=True)
    os.environ["BENCH_CWD"] = CWD
    targets = load_targets(names)
    out = RESULTS / f"{a.name}.json"
    cpu = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")), "?")
    data = {"targets": names, "rounds": a.rounds, "machine": f"{os.cpu_count()} CPUs ({cpu}), Linux {os.uname().release}", "runs": {}}
    if a.add and out.exists():
        old = json.loads(out.read_text())
        if old.get("rounds") == a.rounds:
            data["runs"] = {s: v for s, v in old["runs"].items() if s not in only}
            data["targets"] = list(dict.fromkeys([*old["targets"], *names]))
            for s in only:
                keep = {n: r for n, r in old["runs"].get(s, {}).items() if n not in names}
                if keep:
                    data["runs"][s] = keep

    def note(scenario, name, result):
        data["runs"].setdefault(scenario, {}).setdefault(name, []).append(result)
        out.write_text(json.dumps(data))
        short = {k: result.get(k) for k in ("p50_us", "p99_us", "server_cpu_us_per_unit", "deltas_per_s_each", "first_ws_ms", "idle_kb", "per_session_kb", "sessions", "errors", "error", "busy") if result.get(k) not in (None, [], 0.0)}
        print(f"  {scenario:10} {name:9} {json.dumps(short)}", file=sys.stderr, flush=True)

    for rnd in range(a.rounds):
        print(f"round {rnd + 1} of {a.rounds}", file=sys.stderr, flush=True)
        for sc in only:
            for name, t in targets.items():
                wait = wait_quiet()
                try:
                    if sc == "start":
                        r = measure_start(name, t)
                    elif sc == "memory":
                        r = measure_memory(name, t)
                    elif sc.startswith("maxsess"):
                        past = data["runs"].get(sc, {}).get(name, [])
                        r = measure_max(name, t, 100_000 if sc.endswith("10hz") else 0, past[-1]["sessions"] if past else 0)
                    else:
                        _, sessions, viewers, job, extra = SCENARIOS[sc]
                        if t.get("floor") and extra.get("stalled"):
                            continue
                        with Server(name, t, rule=extra.get("rule", False)) as s:
                            r = run_load(s, sessions, viewers, job, **extra)
                except Exception as e:
                    r = {"error": f"{type(e).__name__}: {e}"}
                if r is not None:
                    r["busy"] = wait
                    note(sc, name, r)
    show(data)


if __name__ == "__main__":
    main()
