package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * EXTENSION. Outbox of MAD_IFC, which the interface document lists but does not describe.
 *
 * <pre>
 *           +0       +1          +2          +3
 *      +---------------------------------------------+
 *  00h |reserved|  lid  | port_state | physical_state |
 *  04h |                  reserved                    |
 *   .. |                                              |
 *  1Ch |                                              |
 *      +---------------------------------------------+
 * </pre>
 *
 * <p>The RTL answers the constant bytes 00 01 02 03 and zeros, whatever the state of its port.
 *
 * @param lid local id, 8 bits
 * @param portState logical state in libibverbs' numbers: 1 down, 2 initializing, 3 armed, 4 active
 * @param physicalState physical state in libibverbs' numbers: 3 disabled, 5 link up
 */
public record PortInfo(int lid, int portState, int physicalState) {
  /** 00h[23:16]: local id, 8 bits. */
  public static final MailboxField LID = MailboxField.bits("lid", 0x00, 23, 16);

  /** 00h[15:8]: logical state in libibverbs' numbers: 1 down, 2 initializing, 3 armed, 4 active. */
  public static final MailboxField PORT_STATE = MailboxField.bits("port_state", 0x00, 15, 8);

  /** 00h[7:0]: physical state in libibverbs' numbers: 3 disabled, 5 link up. */
  public static final MailboxField PHYSICAL_STATE = MailboxField.bits("physical_state", 0x00, 7, 0);

  /** The whole body, 32 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of("PORT_INFO", "RTL and EXTENSION", 32, LID, PORT_STATE, PHYSICAL_STATE);

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    LID.set(mailbox, lid);
    PORT_STATE.set(mailbox, portState);
    PHYSICAL_STATE.set(mailbox, physicalState);
  }

  /** Reads a body. */
  public static PortInfo decode(MemorySegment mailbox) {
    return new PortInfo(LID.get(mailbox), PORT_STATE.get(mailbox), PHYSICAL_STATE.get(mailbox));
  }

  /** Whether this is the RTL's constant, which does not describe the port. */
  public boolean isConstantAnswer() {
    return lid == 1 && portState == 2 && physicalState == 3;
  }
}
