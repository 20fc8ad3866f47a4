"""A cluster on one computer: nodes with host names, addresses and clocks of their own, on links with a rate and a delay.

    with cluster.Cluster(nodes=2, rate="1Gbps") as c:
        c.call([*c.mpiexec(2), program])         # on the first node; MPICH starts a rank on each
        c.shape(rate="100Mbps", delay="50us")    # while it runs

A node is a process in namespaces of its own: network, host name, processes, mounts, shared memory, and on request
clocks. It shares only the file system with the others. Nodes are joined by a bridge, which is in another network
namespace:

    node0: eth0 ======== port0 :      : port1 ======== eth0 :node1        a link without delay
                                bridge
    node2: eth0 ==== port2 :side2: left2 -- relay -- right2 :             a link with delay

Each end of a link is shaped by tbf; the relay (tests/cluster/relay.c) delays what passes. Nothing has a name outside of
these namespaces, so any number of clusters may exist at a time. What holds a namespace is a process whose standard
input is a pipe of ours: however we end, the pipe closes, the process ends, and the kernel removes its namespace with all
processes and devices in it.

It needs root and some parts of the kernel; why_not() says what is missing.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "cluster"))
import ask
import harness
import watched_run
from harness import LIMIT, Failure, demand

FOLDER = harness.TESTS / "cluster"
NETWORK = "192.168.7."
NODES_MAX = 200
KINDS = ("--mount", "--uts", "--ipc", "--net", "--pid")
CLOCKS = 1000  # seconds between clocks of neighbours, if each node has its own
QUEUE = 1 << 20  # bytes that wait at a shaped end, more are dropped
FRAME = 1514
BURST = 200e-6  # seconds for which a shaped end may have saved up its rate
# What a node does: the words are its folder and its name.
INIT = """
mount -t tmpfs shm /dev/shm && mount --bind "$1/hosts" /etc/hosts && hostname "$2" || exit
ip link set lo up || exit
exec 3<&0
cat <&3 >/dev/null &
echo ready
wait $!
"""  # the shell stays, as the parent of orphans
# ... and what holds the bridge does: should we be killed, it removes the folder.
SWITCH = 'echo ready; cat >/dev/null; rm -rf "$1"'
UNITS = {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def quantity(text, *units):
    """Bits per second or nanoseconds, as in '100Mbps' or '50us'."""
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", str(text))
    demand(match and match[2] in units, f"bad value '{text}': expected a number and one of: {', '.join(units)}")
    return float(match[1]) * UNITS[match[2]]


def parse_rate(text):
    return None if text in (None, "inf") else quantity(text, "bps", "Kbps", "Mbps", "Gbps")


def parse_delay(text):
    return 0 if text in (None, "0") else quantity(text, "ns", "us", "ms", "s")


def inside(pid, *kinds):
    """The words that start a command in namespaces of a process."""
    return ["nsenter", "--target", str(pid), *kinds]


def do(*words, text=None):
    done = harness.call(words, limit=60, text=text)
    demand(done.status == 0, f"'{shlex.join(words)}' failed with status {done.status}", text or "", done.stderr)


def why_not():
    """What is missing for a cluster on this computer, or None."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    for tool in ("ip", "tc", "unshare", "nsenter", "mount"):
        if not shutil.which(tool):
            return f"there is no '{tool}': install iproute2 and util-linux"
    for what, command in (("namespaces", "true"), ("veth", "ip link add name end0 type veth peer name end1"),
                          ("bridge", "ip link add name bridge type bridge"),
                          ("tbf", "tc qdisc add dev lo root tbf rate 1gbit burst 64kb limit 1mb")):
        done = harness.call(["unshare", *KINDS, "--fork", "--mount-proc", "sh", "-c", command], limit=60)
        if done.status:
            return f"{what}: {done.stderr.strip() or 'not allowed'}"
    return None


def end_relay(process):
    process.stdin.close()
    process.stdout.close()
    process.wait()


class Holder:
    """A process that holds namespaces of its own until we end."""

    def __init__(self, script, *words, options=()):
        self.process = subprocess.Popen(["unshare", *KINDS, *options, "--fork", "--kill-child", "--mount-proc", "sh",
                                         "-c", script, "sh", *map(str, words)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        if self.process.stdout.readline() != b"ready\n":
            problem = self.process.stderr.read().decode()
            self.end()
            raise Failure(f"cannot make a node: {problem.strip()}")
        self.pid = watched_run.descendants(self.process.pid, "")[0].pid
        self.own = set(self.processes())

    def processes(self):
        """All processes in its process namespace."""
        def space(pid):
            with contextlib.suppress(OSError):
                return os.readlink(f"/proc/{pid}/ns/pid")
        mine = space(self.pid)
        return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if mine and space(pid) == mine]

    def end(self):
        """Kills all its processes."""
        self.process.kill()  # the first process of the namespace goes with it
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.process.stderr):
            file.close()


class Node(Holder):
    def __init__(self, folder, index, has_clock):
        ahead = str(index * CLOCKS)
        super().__init__(INIT, folder, f"node{index}",
                         options=["--time", "--monotonic", ahead, "--boottime", ahead] if has_clock else [])
        self.index, self.name, self.address = index, f"node{index}", f"{NETWORK}{index + 1}"
        self.kinds = [*KINDS, *(["--time"] if has_clock else [])]
        self.rate, self.delay, self.relay = None, 0, None

    def enter(self, cwd=None):
        """The words that start a command on this node."""
        return [*inside(self.pid, *self.kinds), f"--wdns={cwd or os.getcwd()}"]

    def running(self):
        """Processes that commands have started and that have not ended."""
        return [pid for pid in self.processes() if pid not in self.own]


class Cluster:
    def __init__(self, nodes=2, rate=None, delay=None, has_clocks=False):
        demand(1 <= nodes <= NODES_MAX, f"bad number of nodes '{nodes}': expected 1 to {NODES_MAX}")
        self.count, self.has_clocks = nodes, has_clocks
        self.first_shape = rate, delay
        self.queue = QUEUE  # of the switch's ends that are shaped from now on
        self.nodes = []

    def __enter__(self):
        self.ending = contextlib.ExitStack()
        try:
            self.make()
        except BaseException:
            self.ending.close()
            raise
        return self

    def __exit__(self, *_):
        self.ending.close()

    def make(self):
        self.folder = pathlib.Path(self.ending.enter_context(harness.fresh_folder()))
        hosts = "".join(f"{NETWORK}{i + 1} node{i}\n" for i in range(self.count))
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + hosts)
        self.switch = Holder(SWITCH, self.folder)
        self.ending.callback(self.switch.end)
        for index in range(self.count):
            self.nodes.append(Node(self.folder, index, self.has_clocks))
            self.ending.callback(self.nodes[-1].end)
        self.connect()
        self.shape(*self.first_shape)
        # MPI_Finalize of MPICH hangs now and then without this
        harness.build(FOLDER / "finalize.c", self.folder / "finalize.so", ["-O2", "-shared", "-fPIC", *harness.STRICT], ["cc"])
        self.serve()

    # ---- the network ----

    def ip(self, holder, *lines):
        do(*inside(holder.pid, "--net"), "ip", "-batch", "-", text="\n".join(lines))

    def connect(self):
        self.ip(self.switch, "link add name bridge type bridge", "link set bridge up",
                *(line for node in self.nodes for line in
                  (f"link add name port{node.index} type veth peer name eth0 netns {node.pid}",
                   f"link set port{node.index} master bridge up")))
        for node in self.nodes:
            self.ip(node, f"address add {node.address}/24 dev eth0", "link set eth0 up")

    def shape(self, rate=None, delay=None, node=None):
        """Sets the rate of each direction and the delay of a link, or of all; None: unlimited, and none.
        The delay is that of one direction of the link, so a message between two nodes has it twice."""
        rate, delay = parse_rate(rate), parse_delay(delay)
        for one in self.nodes if node is None else [node]:
            for holder, device in ((one, "eth0"), (self.switch, f"port{one.index}")):
                if rate != one.rate:
                    self.limit(holder, device, rate)
            one.rate = rate
            self.retard(one, delay)

    def limit(self, holder, device, rate):
        words = [*inside(holder.pid, "--net"), "tc", "qdisc"]
        if rate is None:
            do(*words, "delete", "dev", device, "root")
        else:
            burst = int(max(2 * FRAME, rate / 8 * BURST))
            do(*words, "replace", "dev", device, "root", "tbf", "rate", f"{int(rate)}bit", "burst", f"{burst}b",
               "limit", f"{self.queue if holder is self.switch else QUEUE}b")

    def retard(self, node, delay):
        """Puts a relay between the port of a node and the bridge when it first has a delay."""
        if delay == node.delay:
            return
        if not node.relay:
            self.insert_relay(node)
        node.relay.stdin.write(f"{int(delay)}\n".encode())
        node.relay.stdin.flush()
        node.delay = delay

    def insert_relay(self, node):
        binary, i = self.folder / "relay", node.index
        harness.build(FOLDER / "relay.c", binary, ["-O2", *harness.STRICT], ["cc"])
        # in the process namespace of the switch, whose end is its own
        node.relay = subprocess.Popen([*inside(self.switch.pid, "--net", "--pid"), binary, f"left{i}", f"right{i}", "0"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.ending.callback(end_relay, node.relay)
        demand(node.relay.stdout.readline() == b"ready\n", "the relay of a link does not start")
        self.ip(self.switch, f"link add name side{i} type bridge", f"link set side{i} up",
                f"link set left{i} master side{i} up", f"link set right{i} master bridge up",
                f"link set port{i} master side{i}")

    # ---- the nodes ----

    def find(self, name):
        for node in self.nodes:
            if name in (node.name, node.address, str(node.index)):
                return node
        raise Failure(f"there is no node '{name}': expected node0 to node{self.count - 1}")

    def environment(self):
        """What commands on the nodes get: without this, UCX finds the memory that nodes share."""
        return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0", "LD_PRELOAD": str(self.folder / "finalize.so"),
                ask.FOLDER: str(self.folder),
                "CLUSTER_MPIEXEC": shlex.join(self.mpiexec())}

    def mpiexec(self, ranks=None, nodes=None):
        """The words of mpiexec that start ranks on these nodes, or all, in turn."""
        hosts = ",".join(node.address for node in nodes or self.nodes)
        return ["mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", str(self.folder / "rsh"), "-hosts", hosts,
                *(["-n", str(ranks)] if ranks else [])]

    def start(self, command, node=None, environment=None, cwd=None, **options):
        """A command on a node, the first unless told, for a with statement that kills it and its group in the end."""
        node = node or self.nodes[0]
        return harness.GROUPS.start([*node.enter(cwd), *map(str, command)],
                                    env={**os.environ, **self.environment(), **(environment or {})}, **options)

    def call(self, command, node=None, environment=None, cwd=None, **options):
        """Runs a command on a node to its end, as harness.call() does."""
        node = node or self.nodes[0]
        return harness.call([*node.enter(cwd), *command],
                            env={**os.environ, **self.environment(), **(environment or {})}, **options)

    def running(self):
        """All that runs on the nodes: pairs of a node's name and a command."""
        def command(pid):
            with contextlib.suppress(OSError):
                return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        pairs = [(node.name, command(pid)) for node in self.nodes for pid in node.running()]
        return [(name, text) for name, text in pairs if text]  # those that have ended have none

    def cut(self, node, is_cut=True):
        """Pulls the cable of a node, or plugs it in again: nobody is told."""
        self.ip(self.switch, f"link set port{node.index} {'down' if is_cut else 'up'}")

    def kill(self, node):
        """The node is dead: its processes are killed, and its address is gone. The others hear of it."""
        node.end()

    # ---- requests from nodes ----

    def serve(self):
        script = self.folder / "rsh"
        script.write_text(f"#!/bin/sh\nexport {ask.FOLDER}={self.folder}\n"
                          f"exec {sys.executable} {FOLDER / 'ask.py'} on \"$@\"\n")
        script.chmod(0o755)
        server = self.ending.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        server.bind(str(self.folder / ask.NAME))
        server.listen(NODES_MAX)
        self.ending.callback(server.shutdown, socket.SHUT_RDWR)  # ends the thread
        threading.Thread(target=self.accept, args=(server,), daemon=True).start()

    def accept(self, server):
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        """Does what a node asks for, and answers with an exit status. If the client ends first, the command stays,
        as with ssh."""
        with client, contextlib.suppress(OSError):
            request, streams, _, _ = socket.recv_fds(client, 1 << 18, 3)
            try:
                cwd, *words = json.loads(request)
                status = self.obey(cwd, words, streams)
            except (Failure, ValueError) as failure:
                os.write(streams[2], f"cluster: error: {failure}\n".encode())
                status = 2
            finally:
                for fd in streams:
                    os.close(fd)
            client.send(str(status).encode())

    def obey(self, cwd, words, streams):
        options = request_parser().parse_args(words)
        if options.request == "on":
            node = self.find(options.node)
            environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            return subprocess.run([*node.enter(cwd), "sh", "-c", " ".join(options.command)], stdin=streams[0],
                                  stdout=streams[1], stderr=streams[2], start_new_session=True,
                                  env={**environment, **self.environment()}).returncode % 256
        if options.request == "shape":
            self.shape(options.rate, options.delay, None if options.node == "all" else self.find(options.node))
        elif options.request in ("cut", "join"):
            self.cut(self.find(options.node), options.request == "cut")
        elif options.request == "kill":
            self.kill(self.find(options.node))
        return 0


# ---- the command ----

def add_shape(parser):
    parser.add_argument("--rate", help="of each direction of a link, such as 100Mbps (default: unlimited)")
    parser.add_argument("--delay", help="of a link, such as 50us (default: none); between two nodes are two links")


def add_requests(commands):
    on = commands.add_parser("on", help="run a command on a node, as rsh does")
    on.add_argument("node")
    on.add_argument("command", nargs=argparse.REMAINDER)
    shape = commands.add_parser("shape", help="set rate and delay of the link of a node, or of all")
    shape.add_argument("node", help="its name, or all")
    add_shape(shape)
    for name, about in (("cut", "pull the cable of a node"), ("join", "plug it in again"),
                        ("kill", "kill a node: its processes, and its address")):
        commands.add_parser(name, help=about).add_argument("node")


def request_parser():
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_requests(parser.add_subparsers(dest="request"))
    return parser


def run(options):
    """Makes a cluster and runs a command on its first node."""
    problem = why_not()
    demand(not problem, f"cannot make a cluster: {problem}")
    command = options.command[options.command[:1] == ["--"]:] or [os.environ.get("SHELL", "/bin/sh")]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with Cluster(options.nodes, options.rate, options.delay, options.clocks) as made:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal, for the command
        status = subprocess.run([*made.nodes[0].enter(), *command], env={**os.environ, **made.environment()},
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)).returncode
    return status if status >= 0 else 128 - status


def main():
    parser = argparse.ArgumentParser(prog="cluster", description="A cluster on one computer, to test on.")
    commands = parser.add_subparsers(dest="request", required=True)
    make = commands.add_parser("run", help="make a cluster, and run a command or a shell on its first node")
    make.add_argument("-n", "--nodes", type=int, default=2, help="number of nodes (default: 2)")
    add_shape(make)
    make.add_argument("--clocks", action="store_true", help="each node has its own clock, far from the others")
    make.add_argument("command", nargs=argparse.REMAINDER)
    commands.add_parser("check", help="can there be a cluster on this computer?")
    add_requests(commands)
    options = parser.parse_args()
    if options.request == "run":
        return run(options)
    if options.request == "check":
        problem = why_not()
        print(f"no: {problem}" if problem else "yes")
        return 1 if problem else 0
    return ask.ask(sys.argv[1:])
