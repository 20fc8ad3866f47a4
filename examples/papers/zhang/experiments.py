"""Zhang et al.: fine-grained validation of simulators."""

import json
import re
import shutil
import xml.etree.ElementTree as xml

import plots
import study
from study import Experiment, Result, number, seconds

NAME = "zhang"
TITLE = "Zhang et al.: a toolset for fine-grained validation"
SOURCE = ("D. Zhang et al., *Tools for Enabling Automatic Validation of Large-scale Parallel Application Simulations*, 2013. Their machine: a Cray XE6 with up "
          "to 512 nodes, miniMD, and SST/macro as the simulator.")
NOMINAL = {"net.model": "loggops", "net.latency": "3us", "net.bandwidth": "8Gbps", "net.gap": "600ns",
           "mpi.send_overhead": "400ns", "mpi.recv_overhead": "400ns", "mpi.eager_limit": "8KiB"}


def settings(values):
    return ["--set", ",".join(f"{key}={value}" for key, value in values.items())]


def compare(work, one, other, **also):
    """Mean error of each group, in percent."""
    text = work.call([work.orrery, "compare", one, other, "--format", "json"], **also).text
    return {name: group["mean"] * 100 for name, group in groups_of(json.loads(text)).items()}


def groups_of(found):
    return {row["group"]: row for row in found["groups"]["groups"]["groups"] if isinstance(row.get("mean"), (int, float))}


def figure1(work):
    """From two runs to statistics, to their comparison, to pictures."""
    result, size = Result(), work.choose(["1000", "200"], ["100", "20"])
    binary = work.compile("../../validate/jacobi.c")
    machine, real, simulated = (work.out / name for name in ("machine.yaml", "real.orr", "simulated.orr"))
    work.say("measure this computer")
    if work.small:
        work.call([work.orrery, "calibrate", "--from", study.EXAMPLES / "calibrate/two-cores.csv", "-o", machine])
    else:
        work.call([work.orrery, "calibrate", "-n", 2, "-o", machine])
    work.say("a real run, and a simulated one")
    work.call([work.orrery, "record", "-q", "-n", 2, "-o", real, binary, *size])
    work.simulate(2, [binary, *size], "--platform", machine, "--trace", simulated)
    for trace in (real, simulated):
        work.call([work.orrery, "analyze", "--format", "xml", trace, "-o", trace.with_suffix(".xml")])
    errors = compare(work, real.with_suffix(".xml"), simulated.with_suffix(".xml"))
    back = compare(work, simulated.with_suffix(".xml"), real.with_suffix(".xml"))
    pictures = work.out / "pictures"
    shutil.rmtree(pictures, ignore_errors=True)
    work.call([work.orrery, "report", real, simulated, "--svg", pictures])
    result.table(["group", "mean difference"], [[name, f"{value:.2f} %"] for name, value in errors.items()])
    one, other = (work.analysis(trace)["overall"]["overall"][0]["runtime"] for trace in (real, simulated))
    result.table(["", "run time"], [["real", seconds(one)], ["simulated", seconds(other)],
                                    ["difference", f"{100 * (other / one - 1):+.2f} %"]])
    for name in ("breakdown", "ranks", "matrix"):
        for found in sorted(pictures.glob(f"{name}*.svg")):
            shutil.copy(found, work.out / f"figure1-{found.name}")
            result.plots.append(f"figure1-{found.name}")
    result.claim("traces go through statistics as XML to a comparison and pictures", len(result.plots) >= 3,
                 f"{len(result.plots)} pictures: breakdown, per rank, matrix", exact=True)
    result.claim("the comparison is symmetric", errors == back, f"{len(errors)} groups, both ways", exact=True)
    return result


def figure2(work):
    result = Result()
    binary = work.compile("../../validate/jacobi.c")
    trace = work.out / "figure2.orr"
    work.simulate(4, [binary, "60", "20"], "--compute", "none", "--trace", trace)
    text = work.call([work.orrery, "analyze", "--format", "xml", trace]).text
    root = xml.fromstring(text)
    names = [entry.get("name") for entry in root.findall("entry")]
    result.table(["their entry", "ours"], [["Overall", "overall"], ["PerNode", "ranks, nodes"], ["PerFunction", "functions"],
                                           ["PerCollectivePhase", "phases"], ["NodeToNode", "pairs"]])
    wanted = {"overall", "ranks", "functions", "phases", "pairs"}
    result.claim("one named entry per group of statistics", wanted <= set(names), ", ".join(names), exact=True)
    plain, extended = work.out / "plain.xml", work.out / "extended.xml"
    plain.write_text(text)
    extended.write_text(text.replace(f"</{root.tag}>", f'  <entry name="of-someone-else"/>\n</{root.tag}>'))
    run = work.call([work.orrery, "compare", plain, extended, "--threshold", "0"], allow_failure=True)
    result.claim("new entries do not interfere with readers", run.status == 0, "a file with one more compares as the same",
                 exact=True)
    return result


def read_found(text):
    line = re.search(r"^use it with: --set (.*)$", text, re.M)
    return dict(item.split("=") for item in line[1].split(","))


UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12, "kbps": 1e3}


def value(text):
    found = re.match(r"([-+0-9.e]+)(\w*)", text)
    return float(found[1]) * UNITS.get(found[2], 1)


def figure3(work):
    """The tuning loop, from wrong parameters to the right ones."""
    result, truth = Result(), {"net.latency": "7us", "net.bandwidth": "5Gbps"}
    binary, reference = work.compile("mixed.c"), work.out / "reference.orr"
    work.simulate(4, [binary, "3"], "--compute", "none", *settings(truth), "--trace", reference)
    work.say("search")
    log = work.out / "tune.log"
    log.unlink(missing_ok=True)
    run = work.call([work.orrery, "tune", reference, "--set", "net.latency=500ns..500us", "--set",
                     "net.bandwidth=100Mbps..500Gbps", "--start", "net.latency=100us,net.bandwidth=200Mbps",
                     "--log", log, *(["--evaluations", "200"] if work.small else []), "run", "-n", "4", "--compute", "none",
                     binary, "3"])
    found = read_found(run.text)
    result.table(["parameter", "start", "truth", "found"],
                 [["net.latency", "100us", "7us", found["net.latency"]],
                  ["net.bandwidth", "200Mbps", "5Gbps", found["net.bandwidth"]]])
    worst = max(abs(value(found[key]) / value(right) - 1) for key, right in truth.items())
    result.claim("the loop finds the right parameters from wrong ones without human intervention", worst < 0.05,
                 f"to {100 * worst:.2f} %", exact=True)
    return result


def error_of(work, reference, trace):
    errors = compare(work, reference, trace, shown=False)
    return sum(errors.values()) / len(errors), errors


def run_time(work, trace):
    return work.analysis(trace)["overall"]["overall"][0]["runtime"]


def same_time(work, binary, name, values, wanted):
    """A run on a varied machine, its bandwidths scaled until the program takes as long as on the nominal one."""
    low, high = 1e-3, 1e3
    trace = work.out / f"{name}.orr"
    for _ in range(20):
        factor = (low * high) ** 0.5
        work.simulate(4, [binary, "3"], "--compute", "none", *settings({**values, "net.bandwidth_factor": f"{factor:.6g}"}),
                      "--trace", trace)
        took = run_time(work, trace)
        if abs(took / wanted - 1) < 0.02:
            break
        low, high = (factor, high) if took > wanted else (low, factor)
    return trace, took


def section4(work):
    """Five machines that total time cannot tell from each other."""
    result, binary, reference = Result(), work.compile("mixed.c"), work.out / "nominal-reference.orr"
    work.simulate(4, [binary, "3"], "--compute", "none", *settings(NOMINAL), "--trace", reference)
    wanted = run_time(work, reference)
    variations = {"nominal": NOMINAL, "latency": {**NOMINAL, "net.latency": "5us"}, "gap": {**NOMINAL, "net.gap": "1200ns"},
                  "overhead": {**NOMINAL, "mpi.send_overhead": "900ns"}, "eager limit": {**NOMINAL, "mpi.eager_limit": "256B"}}
    rows, errors, times = [], {}, {}
    for name, values in variations.items():
        work.say(name)
        if name == "nominal":
            trace = work.out / "nominal.orr"
            work.simulate(4, [binary, "3"], "--compute", "none", *settings({**values, "net.latency": "3.03us"}), "--trace", trace)
            took = run_time(work, trace)
        else:
            trace, took = same_time(work, binary, name.replace(" ", "-"), values, wanted)
        errors[name], groups = error_of(work, reference, trace)
        times[name] = took
        rows.append([name, f"{100 * (took / wanted - 1):+.2f} %", f"{errors[name]:.2f} %",
                     *(f"{groups[key]:.2f} %" for key in groups)])
    result.table(["machine", "total time off by", "mean error of groups", *groups], rows,
                 "The nominal machine has a latency that is 1 % off, as a measured one would")
    result.plots.append(plots.bars(work.out / "section4.svg", {
        "total time": {name: 100 * abs(took / wanted - 1) for name, took in times.items()},
        "mean error of groups": errors}, "percent"))
    result.claim("total times agree within 5 %", all(abs(t / wanted - 1) < 0.05 for t in times.values()), "", exact=True)
    result.claim("the groups rank the nominal machine first", min(errors, key=errors.get) == "nominal",
                 ", ".join(f"{name} {number(value)} %" for name, value in errors.items()), exact=True)
    return result


EXPERIMENTS = [
    Experiment("figure1", "Figure 1: from two runs to a comparison", "trace analysis, trace comparison and visualisation of a "
               "real and a simulated run, coupled by XML files; three pictures.",
               "a solver on 2 ranks, recorded natively and simulated on a machine from `orrery calibrate`; `orrery analyze`, "
               "`compare` and `report`.", figure1),
    Experiment("figure2", "Figure 2: the statistics file", "an XML file with five named entries that can be extended.",
               "`orrery analyze --format xml`.", figure2),
    Experiment("figure3", "Figure 3: the tuning loop", "a framework, proposed: search the parameters of the simulator for the "
               "least error of the comparison.", "`orrery tune` with a latency 14 times too long and a bandwidth 25 times too low "
               "to begin with.", figure3),
    Experiment("section4", "Section IV: a network model that total time cannot tell from four others",
               "a nominal model and four variations, all within 5 % of the real total time; the errors of groups are least for the "
               "nominal one.", "a LogGOPS machine and four variations whose bandwidth was adapted until the total times agree.",
               section4),
]
