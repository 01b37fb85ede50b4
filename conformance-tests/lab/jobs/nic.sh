# shellcheck shell=bash
# Linux's virtio_net on a virtio network card of the device model; the far end is the host's kernel.
# In guest nic-roce the cards offer RoCE, and the far end is another guest.
mac=52:54:00:0a:62:0b
far=10.98.0.1

up() {
  network_card "$mac" 10.98.0.2/24
}

# Which bits are negotiated, one character a bit. This kernel takes 52 to 54 where they are offered,
# and 55, which is ROCE to the card, for the offload GUEST_USO6.
features() {
  local bits roce=0
  [ "$GUEST" != nic-roce ] || roce=1
  bits=$(cat "/sys/class/net/$nic/device/features")
  echo "$bits"
  [ "${bits:5:1}${bits:16:1}${bits:17:1}${bits:29:1}${bits:32:1}${bits:33:1}" = 111111 ] \
    && [ "${bits:51:5}" = "0000$roce" ]
}

# The other guest may still boot.
far_end_answers() {
  for _ in {1..60}; do
    echo_requests 56 1 && return
  done
  return 1
}

echo_requests() {
  python3 "$LAB/guest/ping.py" "$far" "$@"
}

# stream DIRECTION: by TCP, for as long as the job has
stream() {
  python3 "$LAB/guest/stream.py" "$far" "$1" "$SECONDS_EACH" > "$OUT/rate-$1" && cat "$OUT/rate-$1"
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

SECONDS_EACH=$(sed -n "s/.*\blab\.seconds=\([^ ]*\).*/\1/p" /proc/cmdline)
check "virtio_net takes the card, and the link is up" up || exit
check "it has negotiated what the card offers" features
check "the far end answers" far_end_answers || exit
check "echo requests of 56 and 1472 bytes are answered" eval "echo_requests 56 20 && echo_requests 1472 20"
check "TCP to the far end, $SECONDS_EACH s" stream up && note "TCP to the far end of $GUEST, Mbit/s:" "$(cat "$OUT/rate-up")"
check "TCP from the far end, $SECONDS_EACH s" stream down && note "TCP from the far end of $GUEST, Mbit/s:" "$(cat "$OUT/rate-down")"
check "receive modes and another MAC" modes
check "unbind and bind" again
check "TCP after that" eval "SECONDS_EACH=2 stream up && SECONDS_EACH=2 stream down"
check "the kernel has nothing to say" quiet_kernel
[ "$GUEST" != nic-roce ] || check "the other guest is told" stream end
