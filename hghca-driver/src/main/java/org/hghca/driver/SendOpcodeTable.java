package org.hghca.driver;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrOpcode;

/**
 * What the opcodes of verbs mean to a send queue: the card's opcode in the low byte, flags above.
 * It depends on the card and on the queue pair's type, which together are a <em>variant</em>.
 */
final class SendOpcodeTable {
  static final int HAS_REMOTE_ADDRESS = 1 << 8;

  /** One of the rare ones; alone: not supported. */
  static final int SPECIAL = 1 << 9;

  static final int ATOMIC = SPECIAL | 1 << 10;
  static final int DATAGRAM = SPECIAL | 1 << 11;
  static final int NEVER_INLINE = 1 << 12;

  private static final int OPCODE = 0xff;

  /** A power of two that holds all verbs opcodes. */
  private static final int VERBS = 8;

  /** A power of two that holds all types. */
  private static final int TYPES = 4;

  /**
   * By variant and opcode. One table of a constant size for all rings, so that posting checks no
   * index.
   */
  private static final int[] OPERATIONS = new int[4 * TYPES * VERBS];

  /** The opcode of the completion for an opcode of the card. */
  private static final int[] COMPLETIONS = new int[32];

  static {
    for (WrOpcode verb : WrOpcode.values()) {
      COMPLETIONS[cardOpcode(verb)] = verb.completion().code();
      for (HardwareProfile profile : HardwareProfile.all()) {
        for (QpType type : QpType.values()) {
          OPERATIONS[variant(type, profile) | verb.code()] = operation(verb, type, profile);
        }
      }
    }
  }

  private SendOpcodeTable() {}

  /** Which part of the table is that of a type of queue pair on a card. */
  static int variant(QpType type, HardwareProfile profile) {
    return (HardwareProfile.all().indexOf(profile) * TYPES + type.ordinal()) * VERBS;
  }

  /** What an opcode of verbs, by its number, means. */
  static int of(int variant, int verb) {
    return OPERATIONS[(verb | variant) & OPERATIONS.length - 1];
  }

  /** The card's opcode. */
  static int opcode(int operation) {
    return operation & OPCODE;
  }

  /** The number of the completion's opcode for an opcode of the card. */
  static int completion(int cardOpcode) {
    return COMPLETIONS[cardOpcode & COMPLETIONS.length - 1];
  }

  private static int cardOpcode(WrOpcode verb) {
    return switch (verb) {
      case SEND -> WqeOpcode.SEND;
      case SEND_WITH_IMM -> WqeOpcode.SEND_IMM;
      case RDMA_WRITE -> WqeOpcode.RDMA_WRITE;
      case RDMA_WRITE_WITH_IMM -> WqeOpcode.RDMA_WRITE_IMM;
      case RDMA_READ -> WqeOpcode.RDMA_READ;
      case ATOMIC_CMP_AND_SWP -> WqeOpcode.ATOMIC_CS;
      case ATOMIC_FETCH_AND_ADD -> WqeOpcode.ATOMIC_FA;
    };
  }

  private static int operation(WrOpcode verb, QpType type, HardwareProfile profile) {
    int flags =
        switch (verb) {
          case SEND -> sendFlags(type, profile);
          case SEND_WITH_IMM -> profile.sendImmediate() ? sendFlags(type, profile) : SPECIAL;
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> type == QpType.UD ? SPECIAL : HAS_REMOTE_ADDRESS;
          case RDMA_READ -> type == QpType.RC ? HAS_REMOTE_ADDRESS : SPECIAL;
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
              type == QpType.RC && profile.atomics() ? ATOMIC : SPECIAL;
        };
    return cardOpcode(verb) | flags;
  }

  private static int sendFlags(QpType type, HardwareProfile profile) {
    return type != QpType.UD ? 0 : DATAGRAM | (profile.inlineOnUd() ? 0 : NEVER_INLINE);
  }
}
