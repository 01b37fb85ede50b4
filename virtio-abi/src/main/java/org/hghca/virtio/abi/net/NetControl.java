package org.hghca.virtio.abi.net;

import org.hghca.virtio.abi.Field;

/**
 * Commands of the control queue: "Control Virtqueue". The device reads class, command and the
 * command's data, and writes the result, which data of the command may follow.
 */
public final class NetControl {
  /** Bytes of class and command. */
  public static final int HEADER_SIZE = 2;

  /** Bytes of the result. */
  public static final int ACK_SIZE = 1;

  /** Class of the command. */
  public static final Field CLASS = Field.u8("class", 0);

  /** The command within its class. */
  public static final Field COMMAND = Field.u8("command", 1);

  /** Result: done. */
  public static final int OK = 0;

  /** Result: refused, or unknown. */
  public static final int ERROR = 1;

  /** Class: receive filters, with {@link NetFeature#CTRL_RX}. */
  public static final int CLASS_RX = 0;

  /** Class: MAC addresses. */
  public static final int CLASS_MAC = 1;

  /** Class: VLAN filters. */
  public static final int CLASS_VLAN = 2;

  /** Class: the driver has announced itself. */
  public static final int CLASS_ANNOUNCE = 3;

  /** Class: number of queues. */
  public static final int CLASS_MQ = 4;

  /** Class: offloads. */
  public static final int CLASS_GUEST_OFFLOADS = 5;

  /** Of {@link #CLASS_RX}: receive every frame, if the byte of data is 1. */
  public static final int RX_PROMISCUOUS = 0;

  /** Of {@link #CLASS_RX}: receive every multicast frame, if the byte of data is 1. */
  public static final int RX_ALL_MULTICAST = 1;

  /**
   * Of {@link #CLASS_MAC}: replaces both tables of MAC addresses, unicast and multicast, each a
   * le32 number of entries of six bytes; with {@link NetFeature#CTRL_RX}.
   */
  public static final int MAC_TABLE_SET = 0;

  /** Of {@link #CLASS_MAC}: sets the own address, with {@link NetFeature#CTRL_MAC_ADDR}. */
  public static final int MAC_ADDRESS_SET = 1;

  private NetControl() {}
}
