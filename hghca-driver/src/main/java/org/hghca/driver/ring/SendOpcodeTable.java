package org.hghca.driver.ring;

import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendKind;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WrOpcode;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * The encoding of a request in a send queue: its <em>operation</em>, a word that depends on the
 * kind of request ({@link ProviderAccess#kind}), on the card and on the queue pair's type. The last
 * two together are a <em>variant</em>.
 *
 * <p>The word holds the third dword of the next unit except the size, and flags in the unused bits
 * of that dword.
 */
public final class SendOpcodeTable {
  public static final int HAS_REMOTE_ADDRESS = 1 << 22;

  /** One of the rare ones: an atomic, a datagram, or one that is not supported. */
  public static final int SPECIAL = 1 << 23;

  private static final int UNSUPPORTED = SPECIAL;

  public static final int ATOMIC = SPECIAL | 1 << 24;
  public static final int DATAGRAM = SPECIAL | 1 << 25;
  public static final int NEVER_INLINE = 1 << 26;
  public static final int INLINE = 1 << 27;
  private static final int FENCE_SHIFT = 28;

  /** The top bits: the opcode of the completion, 0 to 4 for sends. */
  private static final int COMPLETION_SHIFT = 29;

  /**
   * Whether a success generates a completion for the program. The document does not say whether a
   * card completes an element without this bit (docs/hardware.md, "unsignaled requests"): polling
   * leaves such completions out.
   */
  public static final int SIGNALED = NextUnit.COMPLETION;

  /** In place of the size: the content of the second dword of the next unit. */
  private static final int NEXT = NextUnit.NEXT_FENCE;

  private static final int CONTROL =
      NextUnit.control(
          NextUnit.OPCODE_MASK, 0, NextUnit.MARKER | NextUnit.SOLICITED | NextUnit.COMPLETION);

  private static final int VERBS = 8;

  /** Powers of two that hold all profiles and all types. */
  private static final int PROFILES = 4;

  private static final int TYPES = 4;

  /**
   * By variant and kind. One table of a constant size for all rings, so that posting checks no
   * index.
   */
  private static final int[] OPERATIONS = new int[PROFILES * TYPES * SendKind.KINDS];

  static {
    for (WrOpcode verb : WrOpcode.values()) {
      for (HardwareProfile profile : HardwareProfile.all()) {
        for (QpType type : QpType.values()) {
          int variant = variant(type, profile);
          int plain = operation(verb, type, profile);
          for (int kind = verb.code(); kind < SendKind.KINDS; kind += VERBS) {
            OPERATIONS[variant | kind] = plain | flags(kind, profile);
          }
        }
      }
    }
  }

  private SendOpcodeTable() {}

  /** The part of the table for a type of queue pair on a card. */
  public static int variant(QpType type, HardwareProfile profile) {
    return (HardwareProfile.all().indexOf(profile) * TYPES + type.ordinal()) * SendKind.KINDS;
  }

  /** The operation for the value of {@link ProviderAccess#kind}. */
  public static int of(int variant, int kind) {
    return OPERATIONS[(kind | variant) & OPERATIONS.length - 1];
  }

  /** The card's opcode. */
  public static int opcode(int operation) {
    return operation >>> NextUnit.OPCODE_SHIFT & Doorbell.OPCODE_MASK;
  }

  /** Whether it starts only after earlier READs and atomics have completed. */
  public static boolean isFenced(int operation) {
    return fence(operation) != 0;
  }

  /** 1 when it is fenced, else 0. */
  public static int fence(int operation) {
    return operation >>> FENCE_SHIFT & 1;
  }

  /** Whether data comes from the peer: an RDMA READ or an atomic. */
  static boolean reads(int operation) {
    return completion(operation) >= WcOpcode.RDMA_READ.code();
  }

  public static boolean isSignaled(int operation) {
    return (operation & SIGNALED) != 0;
  }

  /** The second dword of a next unit that has no successor. */
  public static int next(int operation) {
    return operation & NEXT;
  }

  /**
   * The third dword of a next unit.
   *
   * @param size of the element in units
   */
  public static int control(int operation, int size) {
    return operation & CONTROL | (size & NextUnit.SIZE_MASK) << NextUnit.SIZE_SHIFT;
  }

  /** The number of the completion's opcode. */
  public static int completion(int operation) {
    return operation >>> COMPLETION_SHIFT;
  }

  /** Flags of the request; the fence is also passed to a card that implements it. */
  private static int flags(int kind, HardwareProfile profile) {
    int fence = (kind & SendKind.FENCED) == 0 ? 0 : 1;
    return fence << FENCE_SHIFT
        | (profile.fences() ? NextUnit.size(0, fence) : 0)
        | ((kind & SendKind.SIGNALED) == 0 ? 0 : SIGNALED)
        | ((kind & SendKind.SOLICITED) == 0 ? 0 : NextUnit.SOLICITED)
        | ((kind & SendKind.INLINE) == 0 ? 0 : INLINE);
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
          case SEND_WITH_IMM -> profile.sendImmediate() ? sendFlags(type, profile) : UNSUPPORTED;
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
              type == QpType.UD ? UNSUPPORTED : HAS_REMOTE_ADDRESS;
          case RDMA_READ -> type == QpType.RC ? HAS_REMOTE_ADDRESS : UNSUPPORTED;
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
              type == QpType.RC && profile.atomics() ? ATOMIC : UNSUPPORTED;
        };
    return NextUnit.control(cardOpcode(verb), 0, NextUnit.MARKER)
        | flags
        | verb.completion().code() << COMPLETION_SHIFT;
  }

  private static int sendFlags(QpType type, HardwareProfile profile) {
    return type != QpType.UD ? 0 : DATAGRAM | (profile.inlineOnUd() ? 0 : NEVER_INLINE);
  }
}
