"""Pass every frame between two network interfaces on, later or never: a slow and lossy cable as a process.

    python -m sandbox.slow_link FIRST SECOND DELAY_MS LOSS_PERCENT

A process instead of the kernel's own netem, because many kernels are built without it. It imports nothing of the
sandbox, and runs in the namespace where both interfaces are.
"""

from __future__ import annotations

import heapq
import random
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field

ETH_P_ALL = 0x0003
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
# Before each frame the kernel says what it left undone (checksum, cutting up large frames). Passed on with the frame,
# it is done by whoever receives it.
HEADER_BYTES = 10
LARGEST_FRAME_BYTES = 65536 + 64
SOCKET_BUFFER_BYTES = 8 << 20


@dataclass(order=True, slots=True)
class Departure:
    """A frame on its way: when it is due (seconds of the monotonic clock), its turn among equals, and where it goes."""

    due_s: float
    turn: int
    target: socket.socket = field(compare=False)
    frame: bytes = field(compare=False)


def open_interface(name: str) -> socket.socket:
    """A socket that receives every frame that comes in at the interface, and can send any."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    opened.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    opened.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
    opened.bind((name, ETH_P_ALL))
    opened.setblocking(False)
    return opened


def relay(first: socket.socket, second: socket.socket, delay_s: float, loss: float) -> None:
    """Pass frames on in both directions until the process is ended; `loss` is the fraction that is dropped."""
    selector = selectors.DefaultSelector()
    selector.register(first, selectors.EVENT_READ, (first, second))
    selector.register(second, selectors.EVENT_READ, (second, first))
    waiting: list[Departure] = []
    turn = 0
    while True:
        timeout_s = max(0.0, waiting[0].due_s - time.monotonic()) if waiting else None
        for ready, _ in selector.select(timeout_s):
            source, target = ready.data
            for frame in pending_frames(source):
                if random.random() >= loss:
                    turn += 1
                    heapq.heappush(waiting, Departure(time.monotonic() + delay_s, turn, target, frame))
        while waiting and waiting[0].due_s <= time.monotonic():
            send(heapq.heappop(waiting))


def pending_frames(source: socket.socket) -> list[bytes]:
    """All frames that have come in, each with its header."""
    frames: list[bytes] = []
    while True:
        try:
            frame = source.recv(HEADER_BYTES + LARGEST_FRAME_BYTES)
        except (BlockingIOError, OSError):  # none is left, or the interface is down for now
            return frames
        frames.append(frame)


def send(departure: Departure) -> None:
    try:
        departure.target.send(departure.frame)
    except OSError:
        return  # the other side is down or its queue is full: a cable drops the frame


def main() -> None:
    first, second, delay_ms, loss_percent = sys.argv[1:]
    ends = open_interface(first), open_interface(second)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    relay(*ends, delay_s=float(delay_ms) / 1000, loss=float(loss_percent) / 100)


if __name__ == "__main__":
    main()
