"""A launcher with strangers: before it starts the processes, it connects to the simulator many times without the key.

usage: strangers.py ADDRESSES WORDS...

Some say nothing, some part of a hello, some what nobody expects. Fails if there are other addresses than these, such as
'127.0.0.1', separated by commas; 'any' allows all. Connections stay open as long as what it becomes, 'mpiexec.mpich WORDS...'.
"""

import os
import socket
import sys

SILENT = 300
TEXTS = [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 56, b"KRRO", b"x" * 4096]


def main():
    key, *places = os.environ["ORRERY_JOIN"].split()
    found = {place.rpartition("/")[0] for place in places}
    if sys.argv[1] != "any" and not found <= set(sys.argv[1].split(",")):
        sys.exit(f"it listens at {found}")
    address, _, port = places[0].rpartition("/")
    if set(key) == {"0"}:
        sys.exit("the key is zero")
    for i in range(SILENT + len(TEXTS)):
        stranger = socket.create_connection((address, int(port)))
        if i >= SILENT:
            stranger.sendall(TEXTS[i - SILENT])
        stranger.set_inheritable(True)
        stranger.detach()
    os.execvp("mpiexec.mpich", ["mpiexec.mpich", *sys.argv[2:]])


if __name__ == "__main__":
    main()
