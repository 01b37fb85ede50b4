#!/usr/bin/env python3
"""A vfio-user device that tells how the writes to it arrived: store.py SOCKET.

PCI function 1234:0008 with one region, BAR2 of 4 KiB, which the client cannot map. Serves one
client and ends with it. Registers, each of 8 bytes:

    0x000..0x0ff   what was written there last
    0x100          how many writes arrived there
    0x108          the widths of them all: bit n is set for a width of n bytes
    0x110, 0x118   offset and width of the last one
    0x120          writing anything sets 0x100 and 0x108 to 0

The protocol is that of QEMU's docs/interop/vfio-user.rst, as far as QEMU needs it.
"""

import array
import json
import os
import socket
import struct
import sys

VERSION, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO = 1, 2, 3, 4, 5
GET_IRQ_INFO, SET_IRQS, REGION_READ, REGION_WRITE, RESET = 7, 8, 9, 10, 13
HEADER = struct.Struct("<HHIII")  # id, command, size, flags, error
FLAG_REPLY, FLAG_NO_REPLY, FLAG_ERROR = 0x1, 0x10, 0x20
BAR, CONFIG = 2, 7
SIZES = {BAR: 4096, CONFIG: 256}

config = bytearray(SIZES[CONFIG])
struct.pack_into("<HH", config, 0x00, 0x1234, 0x0008)
config[0x0B] = 0xFF  # a class of its own
scratch = bytearray(0x100)
writes = widths = last_offset = last_width = 0


def read(region, offset, count):
    if region == CONFIG:
        return bytes(config[offset : offset + count])
    registers = scratch + struct.pack("<QQQQ", writes, widths, last_offset, last_width)
    return bytes(registers[offset : offset + count]).ljust(count, b"\0")


def write(region, offset, data):
    global writes, widths, last_offset, last_width
    if region == CONFIG:
        if offset == 4:
            config[4:6] = data[:2]  # the command register
    elif offset == 0x120:
        writes = widths = 0
    elif offset + len(data) <= len(scratch):
        scratch[offset : offset + len(data)] = data
        writes += 1
        widths |= 1 << len(data)
        last_offset, last_width = offset, len(data)


def answer(command, request):
    """The body of the reply to a request, or None when the command is not known."""
    if command == VERSION:
        capabilities = {"capabilities": {"max_msg_fds": 8, "max_data_xfer_size": 65536}}
        return struct.pack("<HH", 0, 0) + json.dumps(capabilities).encode() + b"\0"
    if command == DMA_UNMAP:
        return request[:24]
    if command in (DMA_MAP, SET_IRQS, RESET):
        return b""
    if command == GET_INFO:
        return struct.pack("<IIII", 16, 0x3, 9, 5)  # can be reset, is PCI
    if command == GET_REGION_INFO:
        index = struct.unpack_from("<IIIIQQ", request)[2]
        size = SIZES.get(index, 0)
        return struct.pack("<IIIIQQ", 32, 0x3 if size else 0, index, 0, size, 0)
    if command == GET_IRQ_INFO:
        return struct.pack("<IIII", 16, 0, struct.unpack_from("<IIII", request)[2], 0)
    if command in (REGION_READ, REGION_WRITE):
        offset, region, count = struct.unpack_from("<QII", request)
        if command == REGION_READ:
            return request[:16] + read(region, offset, count)
        write(region, offset, request[16 : 16 + count])
        return request[:16]
    return None


def receive(connection, length):
    """Reads that many bytes; descriptors that come with them are closed. None at the end."""
    data = b""
    while len(data) < length:
        room = socket.CMSG_SPACE(16 * 4)
        part, ancillary, _, _ = connection.recvmsg(length - len(data), room)
        for _, _, descriptors in ancillary:
            for descriptor in array.array("i", descriptors):
                os.close(descriptor)
        if not part:
            return None
        data += part
    return data


def serve(connection):
    while header := receive(connection, HEADER.size):
        message, command, size, flags, _ = HEADER.unpack(header)
        body = receive(connection, size - HEADER.size)
        reply = answer(command, body)
        if flags & FLAG_NO_REPLY:
            continue
        flags, error = (FLAG_REPLY, 0) if reply is not None else (FLAG_REPLY | FLAG_ERROR, 95)
        reply = reply or b""
        size = HEADER.size + len(reply)
        connection.sendall(HEADER.pack(message, command, size, flags, error) + reply)


with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen(1)
    client, _ = listener.accept()
    with client:
        serve(client)
