#!/usr/bin/env python3
"""Does verbs of libibverbs on request, on one device of this machine: verbs-agent.py HOST PORT DEVICE.

It connects to HOST:PORT and reads requests from there, one a line: a name, and arguments as key=value
with a value in percent encoding. Each is answered by one line: "ok" with results as key=value, or
"error" and a text. It ends with the connection, or by the request "end"; the exit code is 0 only then.

Byte i of the pattern of a seed is (seed + i) % 251: data that lands elsewhere by any power of two is
found.
"""
import os
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PRIME = 251
CYCLE = bytes(range(PRIME))
PORT = 1
TYPES = {"rc": e.IBV_QPT_RC, "uc": e.IBV_QPT_UC, "ud": e.IBV_QPT_UD}
OPERATIONS = {
    "send": e.IBV_WR_SEND,
    "send_imm": e.IBV_WR_SEND_WITH_IMM,
    "write": e.IBV_WR_RDMA_WRITE,
    "write_imm": e.IBV_WR_RDMA_WRITE_WITH_IMM,
    "read": e.IBV_WR_RDMA_READ,
    "swap": e.IBV_WR_ATOMIC_CMP_AND_SWP,
    "add": e.IBV_WR_ATOMIC_FETCH_AND_ADD,
}
ACCESS = {
    "local": e.IBV_ACCESS_LOCAL_WRITE,
    "write": e.IBV_ACCESS_REMOTE_WRITE,
    "read": e.IBV_ACCESS_REMOTE_READ,
    "atomic": e.IBV_ACCESS_REMOTE_ATOMIC,
}
NETDEV_FILE = "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%d"
GID_FILE = "/sys/class/infiniband/%s/ports/1/gids/%d"


def pattern(seed, length):
    """The first bytes of the pattern of a seed."""
    start = seed % PRIME
    return (CYCLE * (length // PRIME + 2))[start:start + length]


def access(names):
    return sum(ACCESS[name] for name in names.split("+"))


class Agent:
    """The objects that requests have made, each by the name that the request gave it."""

    def __init__(self, device):
        self.device = device
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.index, self.gid = self.find_gid()
        self.cqs, self.qps, self.psns, self.buffers, self.srqs, self.programs = {}, {}, {}, {}, {}, {}
        self.handles = {}

    def find_gid(self):
        """The index and the text of the IPv4 address among the device's GIDs."""
        for index in range(16):
            with open(GID_FILE % (self.device, index), encoding="ascii") as file:
                gid = file.read().strip()
            if gid.startswith("0000:0000:0000:0000:0000:ffff:"):
                return index, gid
        raise LookupError("no GID of an IPv4 address")

    # Requests. Each takes the arguments as text and returns its results.

    def about(self):
        with open(NETDEV_FILE % (self.device, self.index), encoding="ascii") as file:
            netdev = file.read().strip()
        with open("/sys/class/net/%s/address" % netdev, encoding="ascii") as file:
            mac = file.read().strip()
        return {"gid": self.gid.replace(":", ""), "index": self.index, "netdev": netdev, "mac": mac}

    def buffer(self, name, length, access_to="local"):
        region = MR(self.pd, int(length), access(access_to))
        self.buffers[name] = region
        return {"address": region.buf, "rkey": region.rkey}

    def fill(self, buffer, offset, length, seed):
        self.buffers[buffer].write(pattern(int(seed), int(length)), int(length), int(offset))

    def zero(self, buffer, offset, length):
        self.buffers[buffer].write(bytes(int(length)), int(length), int(offset))

    def verify(self, buffer, offset, length, seed):
        """Where the buffer differs from the pattern first; -1 when it does not."""
        wanted = pattern(int(seed), int(length))
        found = self.buffers[buffer].read(int(length), int(offset))
        if found == wanted:
            return {"differs": -1}
        return {"differs": next(i for i in range(len(wanted)) if found[i] != wanted[i])}

    def bytes(self, buffer, offset, length):
        return {"hex": self.buffers[buffer].read(int(length), int(offset)).hex()}

    def put(self, buffer, offset, data):
        raw = bytes.fromhex(data)
        self.buffers[buffer].write(raw, len(raw), int(offset))

    def srq(self, name, depth="64"):
        self.srqs[name] = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=int(depth), max_sge=1)))

    def qp(self, name, kind, send="64", receive="256", srq=None):
        cq = CQ(self.context, int(send) + int(receive))
        cap = QPCap(max_send_wr=int(send), max_recv_wr=int(receive), max_send_sge=1, max_recv_sge=1)
        shared = self.srqs[srq] if srq else None
        qp = QP(self.pd, QPInitAttr(qp_type=TYPES[kind], scq=cq, rcq=cq, cap=cap, srq=shared), None)
        self.qps[name], self.cqs[name] = qp, cq
        self.psns[name] = int.from_bytes(os.urandom(3), "big")
        return {"qpn": qp.qp_num, "psn": self.psns[name]}

    def address(self, gid):
        text = ":".join(gid[i:i + 4] for i in range(0, 32, 4))
        route = GlobalRoute(dgid=GID(text), sgid_index=self.index, hop_limit=64)
        return AHAttr(gr=route, is_global=1, port_num=PORT)

    def connect(self, qp, qpn, psn, gid, mtu, outstanding="1", min_rnr="12", timeout="14", retry="7",
                rnr_retry="7"):
        attributes = QPAttr(port_num=PORT)
        attributes.qp_access_flags = access("local+write+read+atomic")
        attributes.path_mtu = int(mtu)
        attributes.dest_qp_num = int(qpn)
        attributes.rq_psn = int(psn)
        attributes.sq_psn = self.psns[qp]
        attributes.ah_attr = self.address(gid)
        attributes.max_dest_rd_atomic = attributes.max_rd_atomic = int(outstanding)
        attributes.min_rnr_timer, attributes.timeout = int(min_rnr), int(timeout)
        attributes.retry_cnt, attributes.rnr_retry = int(retry), int(rnr_retry)
        self.qps[qp].to_rts(attributes)

    def activate(self, qp, qkey):
        attributes = QPAttr(port_num=PORT)
        attributes.qkey = int(qkey)
        attributes.sq_psn = self.psns[qp]
        self.qps[qp].to_rts(attributes)

    def handle(self, name, gid):
        self.handles[name] = AH(self.pd, attr=self.address(gid))

    def release(self, handle):
        self.handles.pop(handle).close()

    def state(self, qp):
        attributes, _ = self.qps[qp].query(e.IBV_QP_STATE)
        return {"state": attributes.qp_state}

    def element(self, buffer, offset, length):
        region = self.buffers[buffer]
        return [SGE(region.buf + int(offset), int(length), region.lkey)]

    def receive(self, qp, buffer, offset, length, count="1", wr="1"):
        request = RecvWR(wr_id=int(wr), num_sge=1, sg=self.element(buffer, offset, length))
        queue = self.srqs[qp] if qp in self.srqs else self.qps[qp]
        for _ in range(int(count)):
            queue.post_recv(request)

    def send(self, qp, operation, buffer, offset, length, wr="2", count="1", imm="0", address="0",
             rkey="0", compare="0", operand="0", handle=None, qpn="0", qkey="0"):
        request = SendWR(wr_id=int(wr), opcode=OPERATIONS[operation], num_sge=1,
                         imm_data=socket.htonl(int(imm)), sg=self.element(buffer, offset, length),
                         send_flags=e.IBV_SEND_SIGNALED)
        if operation == "swap":
            request.set_wr_atomic(int(rkey), int(address), int(compare), int(operand))
        elif operation == "add":
            request.set_wr_atomic(int(rkey), int(address), int(operand), 0)
        elif operation not in ("send", "send_imm"):
            request.set_wr_rdma(int(rkey), int(address))
        if handle:
            request.set_wr_ud(self.handles[handle], int(qpn), int(qkey))
        for _ in range(int(count)):
            self.qps[qp].post_send(request)

    def poll(self, qp, count, seconds):
        """The completions of a queue pair as status,opcode,wr,length,imm,source,flags, between semicolons."""
        found, until = [], time.monotonic() + float(seconds)
        while len(found) < int(count) and time.monotonic() < until:
            _, some = self.cqs[qp].poll(int(count) - len(found))
            found += some
        rows = (",".join(str(v) for v in (wc.status, wc.opcode, wc.wr_id, wc.byte_len,
                                         socket.ntohl(wc.imm_data), wc.src_qp, wc.wc_flags))
                for wc in found)
        return {"completions": ";".join(rows)}

    def destroy(self, qp):
        self.qps.pop(qp).close()
        self.cqs.pop(qp).close()

    def free(self, buffer):
        self.buffers.pop(buffer).close()

    def datagram(self, address, port):
        """Sends one by UDP, which is none of RoCE."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
            plain.sendto(b"plain", (address, int(port)))

    def run(self, command):
        done = subprocess.run(command.split(" "), capture_output=True, text=True, check=False)
        return {"status": done.returncode, "output": done.stdout + done.stderr}

    def start(self, name, command):
        """Starts a program; one of that name from before, which nobody has waited for, is killed."""
        if name in self.programs:
            self.programs.pop(name)[0].kill()
        out, err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.programs[name] = subprocess.Popen(command.split(" "), stdout=out, stderr=err), out, err

    def kill(self, name):
        self.programs[name][0].kill()

    def end_programs(self):
        """Kills what nobody has waited for."""
        for name in list(self.programs):
            self.kill(name)
            self.wait(name, 10)

    def wait(self, name, seconds):
        """How a program ends: its exit code, and its standard output followed by its errors."""
        program, out, err = self.programs.pop(name)
        late = ""
        try:
            program.wait(timeout=float(seconds))
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            late = "\nkilled after %s s" % seconds
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        return {"status": program.returncode, "output": "".join(texts) + late}


REQUESTS = {name for name in vars(Agent) if not name.startswith("_")} - {"find_gid", "address", "element"}


def answer(agent, line):
    name, *arguments = line.split()
    if name not in REQUESTS:
        return "error unknown request " + name
    try:
        pairs = (argument.split("=", 1) for argument in arguments)
        results = getattr(agent, name)(**{key: urllib.parse.unquote(value) for key, value in pairs})
    except Exception as failure:  # whatever it is, the other side is told
        traceback.print_exc()
        return "error " + " ".join(str(failure).split())
    quoted = ("%s=%s" % (key, urllib.parse.quote(str(value), safe=",;"))
              for key, value in (results or {}).items())
    return " ".join(["ok", *quoted])


def main():
    host, port, device = sys.argv[1:]
    agent = Agent(device)
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("r", encoding="ascii") as requests:
            for line in requests:
                if line.strip() == "end":
                    return 0
                connection.sendall((answer(agent, line) + "\n").encode("ascii"))
    print("the connection ended")
    return 1


if __name__ == "__main__":
    sys.exit(main())
