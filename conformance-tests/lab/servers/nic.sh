#!/bin/bash
# A virtio network card for a guest, and the host's end of its network: nic.sh SOCKET HGHCA LAB.
# In a network namespace of its own, in which a TAP device is the card's cable; it all ends with this.
set -eu
if [ "${LAB_NAMESPACE:-}" != mine ]; then
  LAB_NAMESPACE=mine exec unshare --net "$0" "$@"
fi
socket=$1 hghca=$2 lab=$3
ip tuntap add dev nic mode tap
ip address add 10.98.0.1/24 dev nic
ip link set nic up
python3 "$lab/servers/stream.py" 10.98.0.1 &
peer=$!
"$hghca" model serve --kind virtio --socket "$socket" -o net=tap:nic -o mac=52:54:00:0a:62:0b &
card=$!
trap 'kill $card $peer 2> /dev/null; wait' EXIT
trap 'exit 143' TERM INT
wait $card
