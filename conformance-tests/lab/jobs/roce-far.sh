# shellcheck shell=bash
# The far end of job roce: the card of job nic-far, with the driver of virtio devices.
card=$(functions 1af4:1041)

back() {
  release "$card" && network_card 52:54:00:0a:62:0c 10.98.0.1/24
}

network_card 52:54:00:0a:61:01 10.97.0.1/24
check "the card goes from virtio_net to vfio-pci" bind "$card" || exit
check "hghca demo, the server" hghca demo server --once --bind 10.97.0.1 -d "pci:$card"
check "rping, the server" hghca rping -s -v -C 10 -a fe80::5054:ff:fe0a:620c -d "pci:$card"
check "the card goes back to virtio_net" back || exit
check "TCP is served until the other guest has done" python3 "$LAB/servers/stream.py" 10.98.0.1
check "the kernel has nothing to say" quiet_kernel
