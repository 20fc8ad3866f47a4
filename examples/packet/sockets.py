"""Flows of TCP between two nodes: sockets.py receive PORT FLOWS BYTES | send ADDRESS PORT FLOWS BYTES ALGORITHM

The receiver prints when each flow was done, in seconds since the first byte came. The sender prints how many segments the kernel sent
again, and how often its timer expired.
"""

import selectors
import socket
import sys
import time

PIECE = b"\0" * 65536


def timeouts():
    """Retransmission timers of this network namespace that have expired."""
    with open("/proc/net/netstat", encoding="ascii") as file:
        rows = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(dict(zip(*rows))["TCPTimeouts"])


def receive(port, flows, wanted):
    server = socket.create_server(("", port), backlog=flows)
    print("ready", flush=True)
    ready = selectors.DefaultSelector()
    for _ in range(flows):
        client, _ = server.accept()
        client.setblocking(False)
        ready.register(client, selectors.EVENT_READ, [0])
    start, done = None, []
    while len(done) < flows:
        for key, _ in ready.select():
            try:
                got = len(key.fileobj.recv(1 << 18))
            except BlockingIOError:
                continue
            start = start or time.monotonic()
            key.data[0] += got
            if key.data[0] >= wanted or not got:
                done.append(time.monotonic() - start)
                ready.unregister(key.fileobj)
                key.fileobj.sendall(b"!")
    print(*(f"{each:.6f}" for each in done))


def again_of(sock):
    """tcpi_total_retrans of struct tcp_info."""
    return int.from_bytes(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[100:104], sys.byteorder)


def send(address, port, flows, wanted, algorithm):
    before, ready, again = timeouts(), selectors.DefaultSelector(), 0
    for _ in range(flows):
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        sock.connect((address, port))
        sock.setblocking(False)
        ready.register(sock, selectors.EVENT_WRITE, [wanted])
    while ready.get_map():
        for key, _ in ready.select():
            if key.events & selectors.EVENT_READ:  # the receiver has all of it
                again += again_of(key.fileobj)
                ready.unregister(key.fileobj)
                continue
            try:
                key.data[0] -= key.fileobj.send(PIECE[:key.data[0]])
            except BlockingIOError:
                continue
            if key.data[0] == 0:
                ready.modify(key.fileobj, selectors.EVENT_READ, key.data)
    print(again, timeouts() - before)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(*map(int, sys.argv[2:5]))
    else:
        send(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6])
