"""measure.py - starts a command and measures its cost; facts about this computer.

Wall time is what counts. Processor time is kept, too: Orrery and SMPI compute in one thread, so on
a busy computer it shows what an idle one would have needed.
"""

import json
import os
import platform
import signal
import subprocess
import tempfile
import threading
import time

# The machine of most cases: gigabit Ethernet, by the model without contention.
MACHINE = ["--set", "net.model=constant"]


class Failed(Exception):
    """A command could not be run or did not succeed; the text says which and why."""


class TooSlow(Failed):
    """A command was stopped at its time limit, having used `cpu` seconds of processor time."""

    def __init__(self, text, cpu):
        super().__init__(text)
        self.cpu = cpu


class Cost:
    """What a command cost: wall and processor seconds, peak memory of its largest process."""

    def __init__(self, wall, cpu, peak_bytes):
        self.wall = wall
        self.cpu = cpu
        self.peak_bytes = peak_bytes
        self.summary = {}


def _group_cpu(group):
    """Processor seconds of the live processes of a process group."""
    ticks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stop_group(group, expired):
    """Called at the time limit: stores what the group has used, and ends it."""
    expired.append(_group_cpu(group))
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_once(command, timeout):
    """Runs a command in its own process group; raises Failed if it fails or is too slow."""
    expired = []
    with tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        try:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors,
                                       start_new_session=True)
        except OSError as error:
            raise Failed(f"cannot run '{command[0]}': {error.strerror}") from error
        timer = threading.Timer(timeout, _stop_group, (process.pid, expired))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace").strip()
    if expired:
        raise TooSlow(f"stopped after {timeout:.0f} s", expired[0])
    if process.returncode != 0:
        last = text.splitlines()[-1] if text else "no message"
        raise Failed(f"failed with status {process.returncode}: {last}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def run_together(command, count, timeout):
    """Starts a command several times at once. Wall time until the last has ended, processor time of
    all, and the largest peak memory."""
    costs, failures = [], []

    def one():
        try:
            costs.append(run_once(command, timeout))
        except Failed as error:
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(count)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.monotonic() - start
    if failures:
        raise failures[0]
    return Cost(wall, sum(c.cpu for c in costs), max(c.peak_bytes for c in costs))


def best(costs):
    """The least of each figure over repetitions."""
    result = Cost(min(c.wall for c in costs), min(c.cpu for c in costs),
                  min(c.peak_bytes for c in costs))
    result.summary = costs[0].summary
    return result


def run_best(command, repeat, timeout, summary_file=None):
    """Runs a command several times. summary_file: what `orrery run --json` writes, read back."""
    costs = []
    for _ in range(repeat):
        cost = run_once(command, timeout)
        if summary_file:
            with open(summary_file, encoding="utf-8") as file:
                cost.summary = json.load(file)
        costs.append(cost)
    return best(costs)


def memory_available():
    """Bytes that can be used without swapping."""
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def _cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith(("model name", "Model")):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine():
    """A dictionary that describes this computer, now."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30, 1),
        "kernel": platform.release(),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "load": round(os.getloadavg()[0], 2),
    }
