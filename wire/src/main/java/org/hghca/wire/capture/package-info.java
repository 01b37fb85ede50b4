/**
 * Captures: files of frames that Wireshark and tcpdump share. Ports write them as pcapng
 * (draft-ietf-opsawg-pcapng); pcapng and the older pcap (draft-ietf-opsawg-pcap) are read.
 */
package org.hghca.wire.capture;
