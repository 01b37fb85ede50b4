# shellcheck shell=bash
# The driver of virtio devices in two guests, each with the card that virtio_net had in jobs nic and
# nic-far: RoCE between them over the hub of the cards. Then the kernel has its cards again.
mac=52:54:00:0a:62:0b
far=10.98.0.1
card=$(functions 1af4:1041)

# Runs a client again while its server does not listen yet, as its output tells: client PATTERN COMMAND...
client() {
  local none=$1 output status
  shift
  for _ in {1..60}; do
    output=$("$@" 2>&1)
    status=$?
    [[ $output =~ $none ]] || break
    sleep 0.5
  done
  echo "$output"
  return "$status"
}

has_roce() {
  local output
  output=$(hghca info -v -d "pci:$card") && echo "$output" && [[ $output == *"RoCE:"*"rfc-v2, feature bit 55"* ]]
}

back() {
  release "$card" && network_card "$mac" 10.98.0.2/24 || return
  for _ in {1..60}; do
    python3 "$LAB/guest/ping.py" "$far" 56 1 && return
  done
  return 1
}

stream() {
  python3 "$LAB/guest/stream.py" "$far" "$1" 2
}

# The other guest ends, while its card is still served.
far_guest_ends() {
  stream end || return
  for _ in {1..60}; do
    python3 "$LAB/guest/ping.py" "$far" 56 1 || return 0
  done
  return 1
}

network_card 52:54:00:0a:61:02 10.97.0.2/24
check "the card goes from virtio_net to vfio-pci" bind "$card" || exit
check "hghca info: the card has RoCE" has_roce
check "hghca bringup" \
  bringup_by_kernel -d "pci:$card" --junit "$OUT/TEST-bringup.xml" -v
check "hghca demo with the other guest" \
  client "cannot connect" hghca demo client 10.97.0.1 -d "pci:$card" --seconds 1
check "rping with the other guest, connected by address" \
  client "REJECTED|UNREACHABLE" hghca rping -c -v -C 10 -a fe80::5054:ff:fe0a:620c -d "pci:$card"
check "the card goes back to virtio_net, and the far end answers" back
check "TCP after that" eval "stream up && stream down"
check "the kernel has nothing to say" quiet_kernel
check "the other guest ends" far_guest_ends
