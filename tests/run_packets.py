#!/usr/bin/env python3
"""Tests what `orrery run` records of packets. Prints TAP.

  dissect    tshark finds every checksum good, nothing malformed, and times in order
  same       the files are the same again, with addresses randomised, on every host and number of processes
  places     a host and the port at the other end of its link see the same packets
  vectors    values over time, as JSON and CSV
  traced     a trace and the page made of it have them, too
  links      statistics have what every link carried
  replay     a trace that is replayed sends the same packets, and has the same values over time
  hybrid     ranks that run natively send packets that tshark accepts, and have values over time
  errors     what cannot be captured is said before the run
"""

import collections
import json
import os
import pathlib
import shutil

import harness
from harness import TESTS, demand

NET = "net.model=packet,net.latency=1us,net.bandwidth=1Gbps,net.hop_latency=10us"
# Name, settings, layer above IP and field of its checksum.
KINDS = (("tcp", "", "tcp"), ("tcp lossy", ",net.packet.error_rate=0.02", "tcp"),
         ("tcp ecn", ",net.packet.fabric=ecn,net.packet.mark_above=8KiB", "tcp"),
         ("sctp", ",net.packet.transport=sctp", "sctp"),
         ("sctp lossy", ",net.packet.transport=sctp,net.packet.error_rate=0.02", "sctp"),
         ("sctp ecn", ",net.packet.transport=sctp,net.packet.fabric=ecn,net.packet.mark_above=8KiB", "sctp"),
         ("message", ",net.packet.transport=message,net.packet.fabric=credit", "udp"))
RANKS = 4


class Tests:
    def __init__(self, options):
        self.orrery = pathlib.Path(options.orrery).resolve()
        self.build = options.build_dir.resolve()

    def prepare(self):
        harness.build_all([TESTS / "packets" / "traffic.c", harness.ROOT / "examples/packet/patterns.c"], self.build, [*harness.STRICT, "-Wno-stringop-overflow", "-O2"])
        harness.build(TESTS / "packets" / "randomized.c", self.build / "randomized.so",
                      [*harness.STRICT, "-shared", "-fPIC"], ["gcc"])

    def run(self, folder, settings, *options, at="n*", most=20000, env=None):
        done = harness.call([self.orrery, "run", "-n", RANKS, "--compute", "none", "--set", NET + settings, "--pcap",
                             folder, "--pcap-at", at, *options, self.build / "traffic", most],
                            env={**os.environ, **(env or {})})
        demand(done.status == 0, f"exit status {done.status}", done.stderr)
        return done

    def fields(self, path, *names):
        """Of every packet, as rows; all checksums are looked at."""
        wanted = [word for name in names for word in ("-e", name)]
        done = harness.call(["tshark", "-n", "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
                             "-o", "udp.check_checksum:TRUE", "-o", "sctp.checksum:crc-32c", "-T", "fields", *wanted])
        demand(done.status == 0, "tshark fails", done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    # ---- dissect ----

    def dissect(self, settings, layer):
        with harness.fresh_folder() as folder:
            self.run(folder, settings)
            files = sorted(pathlib.Path(folder).iterdir())
            demand([f.name for f in files] == [f"n{i}.pcap" for i in range(RANKS)], f"files {files}")
            for file in files:
                rows = self.fields(file, "frame.time_epoch", "ip.checksum.status", f"{layer}.checksum.status",
                                   "_ws.malformed", "frame.protocols", "ip.src", "ip.dst")
                demand(len(rows) > 50, f"{file.name}: {len(rows)} packets")
                times = [float(row[0]) for row in rows]
                demand(times == sorted(times), f"{file.name}: times are not in order")
                good = {"1"} if layer != "udp" else {"3"}  # no checksum: the ICRC is there instead
                demand({row[1] for row in rows} == {"1"} and {row[2] for row in rows} == good,
                       f"{file.name}: bad checksums: {collections.Counter((row[1], row[2]) for row in rows)}")
                demand(all(not row[3] for row in rows), f"{file.name}: malformed packets")
                demand(all(layer in row[4] for row in rows), f"{file.name}: {rows[0][4]}")
                me = f"10.0.0.{int(file.stem[1:]) + 1}"
                demand(all(me in row[5:7] for row in rows), f"{file.name}: packets of others")

    def analysis(self):
        """What tshark makes of TCP: connections are opened, options are there, losses are repaired."""
        with harness.fresh_folder() as folder:
            self.run(folder, ",net.packet.error_rate=0.02")
            file = pathlib.Path(folder) / "n0.pcap"
            rows = self.fields(file, "tcp.flags.syn", "tcp.options.mss_val", "tcp.options.wscale.shift",
                               "tcp.analysis.retransmission", "tcp.options.sack.count", "tcp.options.timestamp.tsval",
                               "tcp.analysis.ack_lost_segment", "tcp.len")
            syns = [row for row in rows if row[0] in ("1", "True")]
            demand(syns and all(row[1] == "1460" and row[2] == "7" for row in syns), f"{syns[:3]}")
            demand(all(row[5] for row in rows), "a packet has no timestamp")
            demand(any(row[3] for row in rows), "no retransmission")
            demand(any(row[4] for row in rows), "no selective acknowledgement")
            demand(not any(row[6] for row in rows), "acknowledges what was not captured")

    # ---- same ----

    def files(self, folder):
        return {f.name: f.read_bytes() for f in pathlib.Path(folder).iterdir()}

    def same(self, settings):
        ways = ((), ("--procs", "2"), ("--procs", "3"), ("--host", "process"), ("--schedule", "random:7"))
        with harness.fresh_folder() as folder:
            self.run(folder, settings)
            first = self.files(folder)
        for way in (*ways, "random addresses"):
            with harness.fresh_folder() as folder:
                if way == "random addresses":
                    self.run(folder, settings, env={"LD_PRELOAD": str(self.build / "randomized.so")})
                else:
                    self.run(folder, settings, *way)
                again = self.files(folder)
            demand(sorted(first) == sorted(again), f"{way}: files {sorted(again)}")
            wrong = [name for name in first if first[name] != again[name]]
            demand(not wrong, f"{way}: other packets in {wrong}")

    # ---- places ----

    def places(self):
        """A packet that leaves a host arrives at the switch: both ends of a link see it, unless the run ends."""
        with harness.fresh_folder() as folder, harness.fresh_folder() as other:
            name = pathlib.Path(other) / "run.json"
            self.run(folder, "", "--json", name, at="n0,s0-n0")
            demand(sorted(self.files(folder)) == ["n0.pcap", "s0-n0.pcap"], f"{sorted(self.files(folder))}")
            near, far = (collections.Counter(tuple(row) for row in self.fields(pathlib.Path(folder) / name, "ip.src", "tcp.seq_raw", "tcp.ack_raw", "tcp.len",
                                            "tcp.options.timestamp.tsval")) for name in ("n0.pcap", "s0-n0.pcap"))
            apart = sum(((near - far) + (far - near)).values())
            demand(apart <= json.loads(name.read_text())["network"]["in_flight"], f"{apart} packets only at one end")
        with harness.fresh_folder() as folder:
            done = self.run(folder, "", at="x*")
            demand("matches nothing" in done.stderr and not self.files(folder), "no warning", done.stderr)

    def large(self):
        """Files are written in pieces: more packets than are kept in memory, and all are there."""
        with harness.fresh_folder() as folder, harness.fresh_folder() as other:
            name = pathlib.Path(other) / "run.json"
            self.run(folder, "", "--json", name, most=1200000, at="n0")
            rows = self.fields(pathlib.Path(folder) / "n0.pcap", "frame.time_epoch", "ip.src")
            times = [float(row[0]) for row in rows]
            demand(times == sorted(times), "times are not in order")
            links = {(link["from"], link["to"]): link for link in json.loads(name.read_text())["network"]["busiest_links"]}
            demand(len(rows) > 3000 and (RANKS, 0) in links, f"{len(rows)} packets, links {list(links)}")

    # ---- other commands ----

    def replay(self, settings):
        with harness.fresh_folder() as folder:
            base = pathlib.Path(folder)
            for name in ("first", "again"):
                (base / name).mkdir()
            self.run(base / "first", settings, "--vectors", base / "first.json", "--trace", base / "t.orr")
            done = harness.call([self.orrery, "replay", "-q", "--pcap", base / "again", "--pcap-at", "n*", "--vectors",
                                 base / "again.json", base / "t.orr", "-o", base / "again.orr"])
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            first, again = self.files(base / "first"), self.files(base / "again")
            demand(sorted(first) == sorted(again) == [f"n{i}.pcap" for i in range(RANKS)], f"files {sorted(again)}")
            wrong = [name for name in first if first[name] != again[name]]
            demand(not wrong, f"other packets in {wrong}")
            demand((base / "first.json").read_text() == (base / "again.json").read_text(), "other values over time")

    def hybrid(self, settings, layer):
        with harness.fresh_folder() as folder:
            base = pathlib.Path(folder)
            (base / "pcap").mkdir()
            done = harness.call([self.orrery, "hybrid", "-q", "-n", RANKS, "--compute", "none", "--set", NET + settings,
                                 "--pcap", base / "pcap", "--pcap-at", "n*", "--vectors", base / "v.json",
                                 self.build / "traffic", 20000])
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            vectors = {one["name"]: one["rows"] for one in json.loads((base / "v.json").read_text())["vectors"]}
            for kind in ("window", "rtt"):
                demand(vectors.get(f"{kind}.r0-r1"), f"no {kind}: {sorted(vectors)}")
            files = self.files(base / "pcap")
            demand(sorted(files) == [f"n{i}.pcap" for i in range(RANKS)], f"files {sorted(files)}")
            for name in files if shutil.which("tshark") else ():
                rows = self.fields(base / "pcap" / name, f"{layer}.checksum.status", "_ws.malformed")
                demand(len(rows) > 50 and all(row == ["1", ""] for row in rows), f"{name}: {len(rows)} packets, {rows[:3]}")

    # ---- results ----

    def vectors(self):
        """Values over time: what there is, which is chosen, and the same as CSV and on several processes."""
        with harness.fresh_folder() as folder:
            texts = {}
            for name, *options in (("a.json",), ("b.json", "--procs", "2"), ("a.csv",),
                                   ("some.json", "--vectors-at", "window.r1-*,queue.s0-n0")):
                self.run(folder, ",net.packet.error_rate=0.01", "--vectors", pathlib.Path(folder) / name, *options, at="x",
                         most=300000)
                texts[name] = (pathlib.Path(folder) / name).read_text()
            demand(texts["a.json"] == texts["b.json"], "two processes give other values")
            vectors = {one["name"]: one for one in json.loads(texts["a.json"])["vectors"]}
            demand({"queue.n0-s0", "queue.s0-n0", "window.r0-r1", "rtt.r0-r1"} <= set(vectors), f"{sorted(vectors)}")
            for name, one in vectors.items():
                times = [row[0] for row in one["rows"]]
                demand(times == sorted(times) and len(times) <= 512, f"{name}: {len(times)} rows, or not in order")
                demand(all(row[1] <= row[3] <= row[2] for row in one["rows"]), f"{name}: a last value out of range")
            demand(max(row[2] for row in vectors["queue.s0-n0"]["rows"]) > 10000, "no queue at the receiver")
            rtts = [row for row in vectors["rtt.r0-r1"]["rows"]]
            demand(rtts and all(20e-6 < row[1] < 1 for row in rtts), f"round trips {rtts[:3]}")
            windows = [row[3] for row in vectors["window.r1-r0"]["rows"]]
            demand(len(set(windows)) > 3 and any(a > b for a, b in zip(windows, windows[1:])), f"windows {windows[:9]}")
            lines = [line.split(",") for line in texts["a.csv"].splitlines()[1:]]
            flat = [[one["name"], one["unit"], *row] for one in vectors.values() for row in one["rows"]]
            demand(len(lines) == len(flat), f"{len(lines)} lines of CSV, {len(flat)} rows of JSON")
            demand(all(a[:2] == b[:2] and [float(x) for x in a[2:]] == b[2:] for a, b in zip(lines, flat)), "CSV differs")
            some = {one["name"] for one in json.loads(texts["some.json"])["vectors"]}
            demand(some == {"window.r1-r0", "window.r1-r2", "window.r1-r3", "queue.s0-n0"}, f"{some}")

    def vectors_sctp(self):
        """The stack's congestion window, and round trips from its packets."""
        with harness.fresh_folder() as folder:
            file = pathlib.Path(folder) / "v.json"
            self.run(folder, ",net.packet.transport=sctp,net.packet.error_rate=0.01", "--vectors", file, at="x", most=300000)
            vectors = {one["name"]: one for one in json.loads(file.read_text())["vectors"]}
            pairs = [f"r{i}-r{k}" for i in range(RANKS) for k in range(RANKS) if i != k]
            demand({f"{kind}.{pair}" for kind in ("window", "rtt") for pair in pairs} <= set(vectors), f"{sorted(vectors)}")
            windows = [row[3] for row in vectors["window.r1-r0"]["rows"]]
            demand(len(set(windows)) > 3 and any(a > b for a, b in zip(windows, windows[1:])), f"windows {windows[:9]}")
            rtts = [row[1] for row in vectors["rtt.r0-r1"]["rows"]]
            demand(len(rtts) > 3 and all(20e-6 < rtt < 1 for rtt in rtts), f"round trips {rtts[:9]}")

    def traced(self):
        """A trace has the values over time, once, on every number of processes; a page made of it shows them."""
        with harness.fresh_folder() as folder:
            names = []
            for name, *options in (("a",), ("b", "--procs", "2")):
                trace, page = (pathlib.Path(folder) / f"{name}.{suffix}" for suffix in ("orr", "html"))
                self.run(folder, "", "--trace", trace, "--vectors-at", "window.*,queue.s0-*", *options, at="x", most=100000)
                done = harness.call([self.orrery, "trace", "verify", trace])
                demand(done.status == 0, "the trace is damaged", done.stdout, done.stderr)
                done = harness.call([self.orrery, "report", trace, "-o", page])
                if done.status == 2 and "make web" in done.stderr:
                    return  # there is no page to show them
                demand(done.status == 0, "no page", done.stderr)
                listed = page.read_text().partition('"vectors": [')[2].partition("]")[0]
                names.append([one["name"] for one in json.loads(f"[{listed}]")])
            demand(names[0] == names[1], f"{names}")
            demand(set(names[0]) == {f"queue.s0-n{i}" for i in range(RANKS)} |
                   {f"window.r{i}-r{k}" for i in range(RANKS) for k in range(RANKS) if i != k}, f"{names[0]}")

    def links(self):
        """Statistics have all links, as JSON and as CSV."""
        with harness.fresh_folder() as folder:
            texts = []
            for name in ("a.json", "a.csv"):
                self.run(folder, "", "--stats", pathlib.Path(folder) / name, at="x")
                texts.append((pathlib.Path(folder) / name).read_text())
            network = json.loads(texts[0])["network"]
            rows = {row[0]: row[1:] for row in network["links"]["rows"]}
            demand(set(rows) == {f"n{i}-s0" for i in range(RANKS)} | {f"s0-n{i}" for i in range(RANKS)}, f"{sorted(rows)}")
            demand(sum(row[0] for row in rows.values()) >= network["hops"] > 0, "packets of links do not add up")
            demand(all(0 < row[4] <= 1 for row in rows.values()), f"utilisations {rows}")
            csv = [line.split(",") for line in texts[1].splitlines()]
            demand({row[1]: [int(row[4]), int(row[5])] for row in csv if row[0] == "link"} ==
                   {name: row[:2] for name, row in rows.items()}, "CSV differs")
            demand(["network", "packets", "", "", str(network["packets"]), "", ""] in csv, "no counts in CSV")

    # ---- errors ----

    def errors(self):
        with harness.fresh_folder() as folder:
            file = pathlib.Path(folder) / "file"
            file.write_text("")
            for options, message in (
                    (("--pcap", file), "--pcap: cannot write files in"),
                    (("--pcap", pathlib.Path(folder) / "no" / "where"), "No such file or directory"),
                    (("--pcap-at", "n0"), "--pcap-at: nothing is captured: give --pcap DIR, too"),
                    (("--pcap", folder, "--set", "net.model=flow"), "net.model 'flow' has no packets"),
                    (("--vectors", file, "--set", "net.model=flow"), "net.model 'flow' has no packets"),
                    (("--vectors", folder), "it is a directory"),
                    (("--vectors-at", "rtt.*"), "--vectors-at: nothing is recorded")):
                done = harness.call([self.orrery, "run", "-n", 2, "--compute", "none", "--set", "net.model=packet",
                                     *options, self.build / "traffic", 10])
                demand(done.status == 2 and message in done.stderr, f"{options}: status {done.status}", done.stderr)

    def settings(self):
        """Fabrics whose settings cannot work: said at the start, or when it shows."""
        for settings, message in (
                ("fabric=pfc,net.packet.buffer=2000", "net.packet.buffer: '2000' bytes are too few for pfc"),
                ("fabric=pfc,net.packet.pause_above=64KiB", "bytes are too few for pfc"),
                ("fabric=pfc,net.bandwidth=inf", "'pfc' needs links of a finite bandwidth"),
                ("fabric=pfc,net.packet.pause_above=9KiB,net.packet.resume_below=9KiB", "must be below net.packet.pause_above"),
                ("fabric=credit,net.packet.channels=256", "net.packet.channels: at most 255"),
                ("fabric=credit,net.packet.channels=1,net.packet.buffer=1600", "raise net.packet.channels")):
            done = harness.call([self.orrery, "run", "-n", 8, "--compute", "none", "--set",
                                 "net.model=packet,net.packet.transport=message,net.hop_latency=1us,net.topology.kind=torus,"
                                 f"net.topology.dims=8,mpi.eager_limit=1GiB,net.packet.{settings}",
                                 self.build / "patterns", "alltoall", 100000])
            demand(done.status == 2 and message in done.stderr and "internal" not in done.stderr,
                   f"{settings}: status {done.status}", done.stderr)

    def all(self):
        if shutil.which("tshark"):
            for name, settings, layer in KINDS:
                yield f"dissect {name}", self.dissect, settings, layer
            yield "dissect analysis", self.analysis
            yield "places", self.places
            yield "large", self.large
        for name, settings, _ in KINDS:
            yield f"same {name}", self.same, settings
        for name, settings, layer in (KINDS[0], KINDS[3]):
            yield f"replay {name}", self.replay, settings
            yield f"hybrid {name}", self.hybrid, settings, layer
        yield "vectors", self.vectors
        yield "vectors of SCTP", self.vectors_sctp
        yield "traced", self.traced
        yield "links", self.links
        yield "errors", self.errors
        yield "errors of settings", self.settings


def main():
    options = harness.options_parser(__doc__, "build/packets-tests").parse_args()
    tests = Tests(options)
    tests.prepare()
    tap = harness.Tap()
    tap.run_chosen(tests.all(), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
