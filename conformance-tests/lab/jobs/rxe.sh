# shellcheck shell=bash
# Linux's soft RoCE and unmodified programs of libibverbs against a software HCA on the host. The
# checks are tests on the host (org.hghca.conformance.interop), which write their results themselves.

soft_roce() {
  ln -s /kernel/usr/lib/modules /usr/lib/modules
  modprobe virtio_net && modprobe rdma_rxe && modprobe ib_uverbs && modprobe rdma_ucm || return
  wire=$(interface 52:54:00:0a:63:0b)
  ip link set "$wire" mtu 4200 up && ip address add 10.99.0.11/24 dev "$wire" || return
  tcp=$(interface 52:54:00:0a:63:0c)
  ip link set "$tcp" up && ip address add 10.0.2.15/24 dev "$tcp" || return
  rdma link add rxe0 type rxe netdev "$wire" || return
  for _ in {1..100}; do
    grep -q :ffff:0a63:000b /sys/class/infiniband/rxe0/ports/1/gids/* && break
    sleep 0.1
  done
  ibv_devinfo -v
}

# ibv_attach_mcast does not take part in a group at the level of IP, which drops its datagrams then.
take_part() {
  python3 - "$1" "$2" << 'END' &
import signal, socket, sys
group = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
addresses = b"".join(map(socket.inet_aton, sys.argv[1:]))
group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, addresses)
signal.pause()
END
}

# 10.0.2.2 is the host as QEMU's user network has it.
tests_on_the_host() {
  for _ in {1..600}; do
    [ -e "$OUT/port" ] && break
    sleep 0.1
  done
  python3 "$LAB/guest/verbs-agent.py" 10.0.2.2 "$(cat "$OUT/port")" rxe0
}

note kernel "$(uname -r)"
for package in libibverbs1 librdmacm1t64 rdmacm-utils perftest qemu-system-x86; do
  note "$package" "$(dpkg-query -W -f '${Version}' "$package")"
done
check "soft RoCE is up" soft_roce || exit
take_part 239.1.2.4 10.99.0.11
member=$!
check "the tests of interoperability ran to their end" tests_on_the_host
kill "$member"
rdma statistic show link rxe0/1
