package org.hghca.wire;

/**
 * Why a packet was dropped. The first causes are found in a frame, in this order; the others are
 * those of the HCA that received the packet.
 */
public enum DropCause {
  /** The frame ends within its headers; or it is longer than any frame here. */
  TRUNCATED,

  /** The frame holds neither IPv4 nor IPv6. */
  ETHER_TYPE,

  /** The IP version differs from the frame's type, or the IPv4 header has options. */
  IP_HEADER,

  /** The checksum of the IPv4 header is wrong. */
  IP_CHECKSUM,

  /** The IP length is less than the headers need, or more than the frame holds. */
  IP_LENGTH,

  /** A fragment of an IPv4 packet. */
  IP_FRAGMENT,

  /** An invalid address: of IPv6, :: or one that is mapped from IPv4. */
  IP_ADDRESS,

  /** Not UDP, or not to the port of RoCE. */
  NOT_ROCE,

  /** The UDP length differs from the one that the IP length leaves. */
  UDP_LENGTH,

  /** The UDP checksum is wrong; checked where a peer requires it. */
  UDP_CHECKSUM,

  /** The base transport header is of a version other than 0. */
  TRANSPORT_VERSION,

  /** An opcode that is not known. */
  OPCODE,

  /** The transport headers of the opcode do not fit, or there is payload that it must not have. */
  TRANSPORT_LENGTH,

  /**
   * Payload and padding are not a multiple of 4 bytes, or the padding is longer than the packet.
   */
  PADDING,

  /** The invariant CRC is wrong. */
  ICRC,

  /** For a queue pair that does not exist, or is in RESET. */
  NO_QUEUE_PAIR,

  /** Of another service than the queue pair. */
  SERVICE,

  /** The state of the queue pair does not accept it. */
  STATE,

  /** The IP addresses are not those of the queue pair's connection. */
  ADDRESS,

  /** The Q_Key of a datagram is not the queue pair's. */
  QUEUE_KEY,

  /** A known operation that the HCA does not have. */
  UNSUPPORTED,

  /**
   * Out of sequence on a service without retransmission, without a receive, or an unexpected
   * answer.
   */
  UNWANTED,

  /** The HCA has stopped receiving. */
  STOPPED
}
