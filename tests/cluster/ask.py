"""Asks the process that made a cluster for something, from any of its nodes.

    ask.py on NODE COMMAND...      as rsh does: the words become one command of a shell on the node

The request is a list of words; standard input, output and error go with it. The answer is an exit status. mpiexec uses
this as its launcher, once for each node, so it loads little.
"""

import json
import os
import socket
import sys

FOLDER = "ORRERY_CLUSTER"  # environment of commands on the nodes: where the socket is
NAME = "control"


def ask(words):
    """Returns the exit status of the request."""
    folder = os.environ.get(FOLDER)
    if not folder:
        sys.exit("cluster: error: not on a node of a cluster: 'cluster run' makes one")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(os.path.join(folder, NAME))
        socket.send_fds(server, [json.dumps([os.getcwd(), *words]).encode()], [0, 1, 2])
        answer = server.recv(64)
    return int(answer) if answer else 255  # the cluster has gone


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1:]))
