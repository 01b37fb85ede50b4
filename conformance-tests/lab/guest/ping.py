#!/usr/bin/env python3
"""ICMP echo requests: ping.py ADDRESS BYTES COUNT. Each must be answered within 5 s."""
import os
import socket
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


address, size, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as icmp:
    icmp.settimeout(5)
    icmp.connect((address, 0))
    for number in range(count):
        body = os.urandom(size)
        head = struct.pack("!BBHHH", 8, 0, 0, os.getpid() & 0xffff, number)
        head = struct.pack(
            "!BBHHH", 8, 0, checksum(head + body), os.getpid() & 0xffff, number)
        icmp.send(head + body)
        while icmp.recv(4096)[20:] != struct.pack(
                "!BBHHH", 0, 0, checksum(b"\0\0" + b"\0\0" + head[4:] + body),
                os.getpid() & 0xffff, number) + body:
            pass
print(f"{count} answered")
