#!/usr/bin/env python3
"""A TCP peer that measures a network: stream.py ADDRESS.

A client sends a line, "up", "down SECONDS", or "end", which ends this program. Up: it sends until it ends its direction, and gets the
number of bytes and their CRC. Down: it gets bytes for that time, then both numbers behind them, in
the last 32 bytes.
"""
import os
import socket
import sys
import threading
import time
import zlib

PORT = 5201
BLOCK = bytes((i * 7 + i // 251) & 255 for i in range(1 << 16))


def serve(connection):
    with connection, connection.makefile("rb") as stream:
        words = stream.readline().split()
        total = crc = 0
        if words == [b"end"]:
            os._exit(0)
        if words == [b"up"]:
            while data := stream.read1(1 << 16):
                crc = zlib.crc32(data, crc)
                total += len(data)
        else:
            end = time.monotonic() + float(words[1])
            while time.monotonic() < end:
                data = BLOCK[total % 4096:]
                connection.sendall(data)
                crc = zlib.crc32(data, crc)
                total += len(data)
        connection.sendall(b"%021d %010d" % (total, crc))


with socket.create_server((sys.argv[1], PORT)) as server:
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
