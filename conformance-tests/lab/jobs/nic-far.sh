# shellcheck shell=bash
# The far end of guest nic-roce: another guest, with the second card of its hub.
up() {
  network_card 52:54:00:0a:62:0c 10.98.0.1/24
}

check "virtio_net takes the card, and the link is up" up || exit
check "TCP is served until the other guest has done" python3 "$LAB/servers/stream.py" 10.98.0.1
check "the kernel has nothing to say" quiet_kernel
