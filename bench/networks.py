"""networks.py - network models: their times compared with SimGrid's, their speed, and large machines.

For the accuracy, SimGrid gets the same machine as a list of links and of the route between any two
nodes. Routes are made here by the rules of orrery-topology(7), not by Orrery, so that a wrong route
shows as a wrong time.
"""

import itertools
import os
import shutil
import subprocess

import measure
from cases import K64, M1, PLATFORM_HEAD, SMPI_COMMON, Row
from measure import Failed

RANKS = 64
LATENCY, BANDWIDTH = "1us", "8Gbps"

# CM02: a message waits for its latency, and then gets its share of the links, max-min fair. Shares
# are weighted by latency, so all of it is on the nodes' own links, where it is the same for all.
# TCP-gamma 0: no limit by a window; no cross traffic: nothing flows back.
CM02 = [*SMPI_COMMON, "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
        "--cfg=network/crosstraffic:0", "--cfg=network/weight-S:0",
        "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1"]
# Every message is eager, and MPI takes no time. With its default, network/optim:Lazy, SimGrid's times
# differ from those with Full: the ranks of an all-to-all on the tapered tree, which by symmetry end
# together, do so with Full; with Lazy their mean is 29% earlier.
EAGER = 1 << 24
EXACT = ["--cfg=network/optim:Full", "--cfg=smpi/wtime:0",
         f"--cfg=smpi/async-small-thresh:{EAGER}", f"--cfg=smpi/send-is-detached-thresh:{EAGER}"]
HEADER = 16  # bytes that SMPI adds to each message


# ---- routes between switches: names of links ----

def way_switch(_src, _dst):
    """One switch."""
    return []


def way_torus(src, dst, dims=(4, 4, 4)):
    """Dimension by dimension, in the shorter direction; if both are equal, upwards."""
    at, links = list(place(src, dims)), []
    for d, goal in enumerate(place(dst, dims)):
        length = dims[d]
        up = (goal - at[d]) % length
        sign = 1 if 2 * up <= length else -1
        while at[d] != goal:
            links.append(f"t{'.'.join(map(str, at))}d{d}{'u' if sign > 0 else 'd'}")
            at[d] = (at[d] + sign) % length
    return links


def place(number, dims):
    """Coordinates of a router; the first changes fastest."""
    for length in dims:
        yield number % length
        number //= length


def way_fat_tree(src, dst, down=(4, 4, 4), up=(1, 4, 2)):
    """Up by digits of the destination, to a lowest switch above both, and down again."""
    climb, descend = [], []
    blocks, above, parent = 1, 1, 0  # nodes per block, switches above a block, the one that is ours
    for level, children in enumerate(down):
        if src // blocks == dst // blocks:
            break
        parent_next = parent + above * (dst // above % up[level])
        if level:  # the nodes' own links are added by the caller
            climb.append(f"f{level}b{src // blocks}w{parent}p{parent_next}u")
            descend.append(f"f{level}b{dst // blocks}w{parent}p{parent_next}d")
        above, parent, blocks = above * up[level], parent_next, blocks * children
    return climb + descend[::-1]


def way_dragonfly(src, dst, nodes=2, routers=4, ends=2):
    """One link between groups, if necessary with one before and one after it."""
    groups = routers * ends + 1
    group, at = divmod(src // nodes, routers)
    goal_group, goal = divmod(dst // nodes, routers)
    links = []
    if group != goal_group:
        end = (goal_group - group - 1) % groups
        if at != end // ends:
            links.append(f"l{group}r{at}r{end // ends}")
        links.append(f"g{group}e{end}")
        group, at = goal_group, (groups - 2 - end) // ends
    if at != goal:
        links.append(f"l{group}r{at}r{goal}")
    return links


TOPOLOGIES = {
    "switch": ("", way_switch),
    "torus 4x4x4": (",net.topology.kind=torus,net.topology.dims=4x4x4", way_torus),
    "fat tree 4x4x4, tapered": (",net.topology.kind=fat-tree,net.topology.down=4x4x4,"
                                "net.topology.up=1x4x2", way_fat_tree),
    "dragonfly of 9 groups": (",net.topology.kind=dragonfly,net.topology.nodes=2,"
                              "net.topology.routers=4,net.topology.global=2", way_dragonfly),
}


def write_machine(path, way):
    """SimGrid's description: hosts, links, and the route between any two hosts."""
    pairs = list(itertools.permutations(range(RANKS), 2))
    ways = {(a, b): [f"n{a}u", *way(a, b), f"n{b}d"] for a, b in pairs}
    links = dict.fromkeys(name for found in ways.values() for name in found)
    with open(path, "w", encoding="ascii") as file:
        file.write(PLATFORM_HEAD + '  <zone id="z" routing="Full">\n')
        file.writelines(f'    <host id="n{i}" speed="1Gf"/>\n' for i in range(RANKS))
        for name in links:
            latency = LATENCY if name.startswith("n") and name.endswith("u") else "0us"
            file.write(f'    <link id="{name}" bandwidth="{BANDWIDTH}" latency="{latency}" '
                       'sharing_policy="SHARED"/>\n')
        for (a, b), found in ways.items():
            listed = "".join(f'<link_ctn id="{name}"/>' for name in found)
            file.write(f'    <route src="n{a}" dst="n{b}" symmetrical="NO">{listed}</route>\n')
        file.write("  </zone>\n</platform>\n")


def write_hosts(bench, count, prefix="n"):
    """A list of hosts for smpirun."""
    path = os.path.join(bench.build, f"hosts-{count}.txt")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{prefix}{i}\n" for i in range(count))
    return path


# ---- accuracy ----

def times(bench, command):
    """What `patterns` prints: pattern -> (latest, mean)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=bench.timeout)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"'{command[0]}' was stopped after {bench.timeout:.0f} s") from error
    if done.returncode != 0:
        raise Failed(f"'{command[0]}' failed: {done.stderr.strip()[-200:]}")
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            found[words[0]] = (float(words[1]), float(words[2]))
    return found


def has_smpi():
    """Is SimGrid's SMPI installed?"""
    return shutil.which("smpicc") and shutil.which("smpirun")


def smpirun(bench, ranks, machine, options, program):
    """The beginning of a command that runs a program in SMPI."""
    return ["smpirun", "-np", str(ranks), "-platform", machine, "-hostfile",
            write_hosts(bench, ranks), *options, bench.compile(program, "smpicc", ".smpi")]


def accuracy_of(bench, name, settings, way):
    """One row: the largest difference of any pattern, latest or mean."""
    machine = os.path.join(bench.build, f"{name.split()[0]}-{RANKS}.xml")
    write_machine(machine, way)
    options = ["-n", str(RANKS), "--compute", "none", "--set",
               f"net.model=flow,net.latency={LATENCY},net.bandwidth={BANDWIDTH},"
               f"mpi.eager_limit={EAGER},mpi.clock_cost=1ps{settings}"]
    ours = times(bench, [bench.orrery, "run", "-q", *options, bench.compile("patterns"),
                         str(HEADER)])
    theirs = times(bench, smpirun(bench, RANKS, machine, CM02 + EXACT, "patterns"))
    if not ours or set(ours) != set(theirs):
        raise Failed(f"{name}: patterns {sorted(ours)} and {sorted(theirs)}")
    worst, pattern = max((100 * abs(a / b - 1), pattern) for pattern in ours
                         for a, b in zip(ours[pattern], theirs[pattern]))
    return Row(f"flow against SimGrid, {name}: most that differs ({pattern})", "%", worst, None, 1,
               "less", " ".join(["orrery run", *options, "patterns", str(HEADER)]))


def accuracy(bench):
    """The same flows on the same topologies in SimGrid."""
    if not has_smpi():
        return [Row("flow against SimGrid", "%", None, None, 1, "less", "smpirun",
                    "not installed (Debian: libsimgrid-dev)")]
    return [accuracy_of(bench, name, *rest) for name, rest in TOPOLOGIES.items()]


# ---- speed ----

def in_turn(bench, commands, repeat):
    """The best cost of each of several commands, which are run in turn."""
    costs = [[] for _ in commands]
    for _ in range(repeat):
        for command, found in zip(commands, costs):
            found.append(measure.run_once(command, bench.timeout))
    return [measure.best(found) for found in costs]


def write_fat_tree(bench):
    """1,024 hosts below 32 switches with 32 parents, as SimGrid itself builds it."""
    path = os.path.join(bench.build, "fat-tree-1024.xml")
    with open(path, "w", encoding="ascii") as file:
        file.write(f'{PLATFORM_HEAD}  <cluster id="c" prefix="n" suffix="" radical="0-1023" '
                   'speed="1Gf" bw="10Gbps" lat="250ns" sharing_policy="SPLITDUPLEX" '
                   'topology="FAT_TREE" topo_parameters="2;32,32;1,32;1,1"/>\n</platform>\n')
    return path


def fat_tree(bench):
    """Halo exchange on a fat tree with contention, in Orrery and in SMPI in turn."""
    ranks, iterations = 1024, 2 if bench.quick else 10
    options = ["-n", str(ranks), "--compute", "none", "--set",
               "net.model=flow,net.latency=1us,net.bandwidth=10Gbps,net.topology.kind=fat-tree,"
               "net.topology.down=32x32"]
    smpi = ["-no-privatize", *CM02, "--cfg=contexts/factory:raw", "--cfg=contexts/stack-size:64",
            "--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/allreduce:rdb"]
    rows = []
    for width in (16, 1024):
        arguments = [str(iterations), str(width)]
        commands = [[bench.orrery, "run", "-q", *options, bench.compile("halo2d"), *arguments]]
        if has_smpi():
            commands.append([*smpirun(bench, ranks, write_fat_tree(bench), smpi, "halo2d"),
                             *arguments])
        ours, *theirs = in_turn(bench, commands, bench.repeat)
        messages = ranks * iterations * (4 + 10) / 1e6  # 10: allreduce by recursive doubling
        label = f"2D halo + allreduce, 1,024-node fat tree, {8 * width:,} B"
        rows.append(Row(f"{label}: flow", "M messages/s", messages / ours.wall, messages / ours.cpu,
                        None, "more", " ".join(["orrery run", *options, "halo2d", *arguments])))
        if theirs:
            rows.append(Row(f"{label}: times SMPI's rate", "times", theirs[0].wall / ours.wall,
                            theirs[0].cpu / ours.cpu, 20, "more",
                            " ".join(["smpirun -np 1024 -platform fat-tree-1024.xml", *smpi,
                                      "halo2d", *arguments])))
    return rows


def models(bench):
    """The same ring with each model, in turn; and where every message waits for the one before, and a halo, with the
    model that is the default."""
    rounds = 25 if bench.quick else 100
    base = ["-n", str(K64), "--compute", "none", "--set"]
    extra = {"constant": "", "loggops": ",net.gap=1us", "hops": ",net.topology.kind=fat-tree",
             "flow": ",net.topology.kind=fat-tree"}
    names = {name: f"net.model={name}{more}" for name, more in extra.items()}
    count = {name: rounds // 10 if name == "flow" else rounds for name in names}
    ring = bench.compile("ring")
    costs = in_turn(bench, [[bench.orrery, "run", "-q", *base, names[name], ring, str(count[name])]
                            for name in names], bench.repeat)
    rows, first = [], costs[0]
    for (name, settings), cost in zip(names.items(), costs):
        command = " ".join(["orrery run", *base, settings, "ring", str(count[name])])
        messages = K64 * count[name] / 1e6
        rows.append(Row(f"ring, {K64:,} ranks: {name}", "M messages/s", messages / cost.wall,
                        messages / cost.cpu, None, "more", command))
        if name == "loggops":
            rows.append(Row(f"ring, {K64:,} ranks: loggops, of constant", "%",
                            100 * first.wall / cost.wall, 100 * first.cpu / cost.cpu, None, "more",
                            command))
    return rows + of_constant(bench, "ring both ways", "ring", str(rounds // 4), "both") + \
        of_constant(bench, "2D halo + allreduce", "halo2d", "10", "16")


def of_constant(bench, label, program, *arguments):
    """How fast loggops is beside constant."""
    binary = bench.compile(program)
    options = [["-n", str(K64), "--compute", "none", "--set", f"net.model={name}"] for name in ("constant", "loggops")]
    constant, loggops = in_turn(bench, [[bench.orrery, "run", "-q", *each, binary, *arguments] for each in options],
                                bench.repeat)
    return [Row(f"{label}, {K64:,} ranks: loggops, of constant", "%", 100 * constant.wall / loggops.wall,
                100 * constant.cpu / loggops.cpu, 50, "more",
                " ".join(["orrery run", *options[1], program, *arguments]))]


# ---- large machines ----

def dragonfly(bench):
    """A machine of a million nodes: with two ranks on it, and with one on each node."""
    machine = ("--platform", "exascale-1m")
    few, command = bench.simulate(2, "pingpong", 1, options=machine)
    label = f"dragonfly, {M1:,} nodes"
    rows = [Row(f"{label}: load", "s", few.wall, few.cpu, 2, "less", command),
            Row(f"{label}: memory", "MB", few.peak_bytes / 1e6, None, 1000, "less", command)]
    many, command = bench.simulate(M1, "ring", 1, options=(*machine, "--set",
                                                           "nodes.ranks=1,net.model=hops"))
    return rows + [Row(f"{label}, a rank on each, hops: ring x 1", "s", many.wall, many.cpu, None,
                       "less", command)]


CASES = {"net-accuracy": accuracy, "net-fat-tree": fat_tree, "net-models": models,
         "net-dragonfly": dragonfly}
