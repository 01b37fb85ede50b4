# shellcheck shell=bash
# Linux's virtio_net on a virtio network card of the device model; the far end is the host's kernel.
mac=52:54:00:0a:62:0b
far=10.98.0.1

# The interface of the card; fails where there is none.
interface() {
  basename "$(dirname "$(grep -l "$mac" /sys/class/net/*/address)")"
}

up() {
  ln -sfn /kernel/usr/lib/modules /usr/lib/modules
  modprobe virtio_net && ls -l /sys/class/net && lspci -vvs "$(functions 1af4:1041 | tail -n 1)" || return
  nic=$(interface) && [ "$nic" != . ] || return
  ip link set "$nic" up && ip address replace 10.98.0.2/24 dev "$nic" || return
  for _ in {1..100}; do
    [ "$(cat "/sys/class/net/$nic/carrier")" = 1 ] && ip address show "$nic" && return
    sleep 0.1
  done
  return 1
}

# What a virtio device has negotiated, one character a bit; ROCE is bit 55.
features() {
  local bits
  bits=$(cat "/sys/class/net/$nic/device/features")
  echo "$bits"
  [ "${bits:5:1}${bits:16:1}${bits:17:1}${bits:29:1}${bits:32:1}${bits:33:1}${bits:55:1}" = 1111110 ]
}

echo_requests() {
  python3 "$LAB/guest/ping.py" "$far" "$@"
}

# stream DIRECTION: by TCP, for as long as the job has
stream() {
  python3 "$LAB/guest/stream.py" "$far" "$1" "$SECONDS_EACH" | tee "$OUT/rate-$1"
}

modes() {
  ip link set "$nic" promisc on && ip link set "$nic" promisc off \
    && ip link set "$nic" allmulticast on && ip link set "$nic" allmulticast off \
    && ip link set "$nic" address 52:54:00:0a:62:99 && echo_requests 56 3 \
    && ip link set "$nic" address "$mac" && echo_requests 56 3
}

# The driver leaves the card and takes it again.
again() {
  local device
  device=$(basename "$(readlink -f "/sys/class/net/$nic/device")")
  echo "$device" > /sys/bus/virtio/drivers/virtio_net/unbind \
    && echo "$device" > /sys/bus/virtio/drivers/virtio_net/bind && up && echo_requests 56 3
}

quiet_kernel() {
  dmesg | grep -iE "virtio|NETDEV|WARNING|BUG|Call Trace|DMAR" | tail -n 20
  ! dmesg | grep -qiE "WARNING:|BUG:|Call Trace|NETDEV WATCHDOG|DMAR.*fault|is not a head|output.*error"
}

SECONDS_EACH=$(sed -n "s/.*\blab\.seconds=\([^ ]*\).*/\1/p" /proc/cmdline)
check "virtio_net takes the card, and the link is up" up || exit
check "it has negotiated what the card offers" features
check "echo requests of 56 and 1472 bytes are answered" eval "echo_requests 56 20 && echo_requests 1472 20"
check "TCP to the host, $SECONDS_EACH s" stream up && note "TCP to the host, Mbit/s:" "$(cat "$OUT/rate-up")"
check "TCP from the host, $SECONDS_EACH s" stream down && note "TCP from the host, Mbit/s:" "$(cat "$OUT/rate-down")"
check "receive modes and another MAC" modes
check "unbind and bind" again
check "TCP after that" eval "SECONDS_EACH=2 stream up && SECONDS_EACH=2 stream down"
check "the kernel has nothing to say" quiet_kernel
