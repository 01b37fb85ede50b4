#!/usr/bin/env python3
"""Sends and receives bytes by TCP, and compares their CRC: stream.py ADDRESS up|down|end SECONDS.

The far end is servers/stream.py, which "end" ends. Prints Mbit/s.
"""
import socket
import sys
import time
import zlib

PORT = 5201
BLOCK = bytes((i * 5 + i // 241) & 255 for i in range(1 << 16))
PATIENCE = 60
address, direction, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])


def connect():
    """The far end may answer to echo requests before it listens: another guest boots, too."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((address, PORT), timeout=PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


with connect() as connection:
    start = time.monotonic()
    total = crc = 0
    if direction == "end":
        connection.sendall(b"end\n")
        sys.exit(1 if connection.recv(1) else 0)
    if direction == "up":
        connection.sendall(b"up\n")
        while time.monotonic() - start < seconds:
            data = BLOCK[total % 4096:]
            connection.sendall(data)
            crc = zlib.crc32(data, crc)
            total += len(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(64):
            answer += data
    else:
        connection.sendall(b"down %f\n" % seconds)
        answer = b""
        while data := connection.recv(1 << 16):
            data = answer + data
            answer = data[-32:]
            crc = zlib.crc32(data[:-32], crc)
            total += len(data[:-32])
    took = time.monotonic() - start
numbers = [int(word) for word in answer.split()]
if numbers != [total, crc]:
    sys.exit(f"{total} bytes with CRC {crc} here, {answer} there")
print(f"{total * 8 / took / 1e6:.1f}")
