package org.hghca.model.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.model.card.HostMemory;

/**
 * The command unit: checks the opcode, some op_modifiers and the presence of mailboxes, fetches the
 * inbox, and passes it on. The status reflects only these checks. A command that never completes
 * leaves go set, and no later command is processed until the card is reset.
 */
final class RtlCommandUnit {
  private static final int MAILBOX_SIZE = 4096;
  private static final int RESIZE_SIZE = 8;
  private static final int MTT_GROUP = 4;
  private static final int COUNT_MASK = 0xff;

  /** An unknown command that is nevertheless checked for its inbox. */
  private static final int INIT_IB = 0x009;

  private static final int MODIFY_WITHOUT_INBOX = 2;
  private static final int MODIFY_WITHOUT_INBOX_EITHER = 3;
  private static final int PORT_QUERY = 1;

  private static final String LIMITS =
      "0100000000000000000d000d0e0d050e"
          + "0c000001000800000100008000400040"
          + "005000f1000c00000010020000100200"
          + "12345678876500000000000000000000";
  private static final String ADAPTER = "00".repeat(24) + "0123456789abcdef";
  private static final String PORT = "00010203" + "00".repeat(28);

  /** Where {@link #LIMITS} has log2 of the numbers of queue pairs and completion queues. */
  private static final int LOG_QPS = 0x0c;

  private static final int LOG_CQS = 0x0d;
  private static final byte LOG_QUEUES_R2 = 8;

  private final HostMemory host;
  private final ContextManager contexts;
  private final TranslationUnit translation;
  private final Hazards hazards;
  private final boolean second;
  private final byte[] limits = HexFormat.of().parseHex(LIMITS);
  private final MemorySegment mailbox = Arena.ofAuto().allocate(MAILBOX_SIZE, 64);
  private boolean hung;

  RtlCommandUnit(
      HardwareProfile profile,
      HostMemory host,
      ContextManager contexts,
      TranslationUnit translation,
      Hazards hazards) {
    this.host = host;
    this.contexts = contexts;
    this.translation = translation;
    this.hazards = hazards;
    this.second = profile == HardwareProfile.R2;
    if (second) {
      limits[LOG_QPS] = LOG_QUEUES_R2;
      limits[LOG_CQS] = LOG_QUEUES_R2;
    }
  }

  /** Executes the command in the registers and completes it there, or hangs. */
  void execute(Bar0 registers) {
    if (hung) {
      return;
    }
    int dword = registers.register(Hcr.COMMAND);
    int opModifier = Hcr.opModifier(dword);
    long in = registers.parameter(Hcr.IN_PARAM_HIGH);
    int modifier = registers.register(Hcr.IN_MODIFIER);
    long out = registers.parameter(Hcr.OUT_PARAM_HIGH);
    HcrCommand command = HcrCommand.of(Hcr.op(dword)).orElse(null);
    if (command == HcrCommand.NOP
        || command == HcrCommand.CONF_SPECIAL_QP
        || command != null && command.isExtension()) {
      command = null;
    }
    int status = status(Hcr.op(dword), command, opModifier, in, out);
    if (status != CommandStatus.OK.code()
        || fetch(command, opModifier, in, modifier)
            && dispatch(command, opModifier, in, modifier, out)) {
      registers.complete(status);
    } else {
      hung = true;
      hazards.strike("2.3", "%s 0x%x never ends".formatted(command, modifier));
    }
  }

  /** The codes of all checks that fail, OR-ed. */
  private static int status(int op, HcrCommand command, int opModifier, long in, long out) {
    int status = command == null ? CommandStatus.BAD_OP.code() : CommandStatus.OK.code();
    boolean bad =
        command == null
            ? op == INIT_IB && in == 0
            : !allows(command, opModifier)
                || hasInbox(command, opModifier) && in == 0
                || needsOutbox(command) && out == 0;
    return bad ? status | CommandStatus.BAD_PARAM.code() : status;
  }

  private static boolean allows(HcrCommand command, int opModifier) {
    return switch (command) {
      case MAP_ICM, UNMAP_ICM -> opModifier == MapIcm.CONTEXTS || opModifier == MapIcm.TRANSLATION;
      case MAD_IFC -> opModifier == PORT_QUERY;
      default ->
          !command.isModifyQp()
              || opModifier == 0
              || opModifier == MODIFY_WITHOUT_INBOX
              || opModifier == MODIFY_WITHOUT_INBOX_EITHER;
    };
  }

  private static boolean hasInbox(HcrCommand command, int opModifier) {
    return command.isModifyQp() ? opModifier == 0 : command.inboxSize() != 0;
  }

  private static boolean needsOutbox(HcrCommand command) {
    return command == HcrCommand.QUERY_DEV_LIM
        || command == HcrCommand.QUERY_ADAPTER
        || command == HcrCommand.QUERY_QP;
  }

  /** Fetches the inbox; a DMA that the host does not answer never ends, one of no bytes does. */
  private boolean fetch(HcrCommand command, int opModifier, long in, int modifier) {
    if (!hasInbox(command, opModifier)) {
      return true;
    }
    mailbox.fill((byte) 0);
    int size = inboxSize(command, modifier);
    return host.read(in, mailbox, 0, size);
  }

  private static int inboxSize(HcrCommand command, int modifier) {
    return switch (command) {
      case RESIZE_CQ -> RESIZE_SIZE;
      // Twelve bits of length.
      case MAP_ICM -> (int) ((Integer.toUnsignedLong(modifier) + 1) / 2 * Beats.SIZE) & 0xfff;
      // Eight bits of the number of entries.
      case WRITE_MTT ->
          Beats.SIZE + ((modifier & COUNT_MASK) + MTT_GROUP - 1) / MTT_GROUP * Beats.SIZE;
      default -> command.inboxSize();
    };
  }

  /** Passes a command on; returns whether it completes. */
  private boolean dispatch(HcrCommand command, int opModifier, long in, int modifier, long out) {
    switch (command) {
      case QUERY_DEV_LIM -> answer(out, limits);
      case QUERY_ADAPTER -> answer(out, HexFormat.of().parseHex(ADAPTER));
      case MAD_IFC -> answer(out, HexFormat.of().parseHex(PORT));
      case SW2HW_MPT -> translation.take(modifier, mailbox);
      case HW2SW_MPT -> translation.release(modifier);
      case WRITE_MTT -> {
        if ((modifier & COUNT_MASK) == 0) {
          return false;
        }
        if (modifier == (modifier & COUNT_MASK)) {
          translation.writePages(mailbox, modifier);
        }
      }
      case MAP_ICM, UNMAP_ICM -> {
        if (second && command == HcrCommand.MAP_ICM && modifier != 1) {
          return false; // it waits for the second half of the first entry
        }
        if (opModifier == MapIcm.CONTEXTS) {
          return contexts.execute(command, opModifier, modifier, in, mailbox);
        }
        if (command == HcrCommand.MAP_ICM && inboxSize(command, modifier) == 0) {
          hazards.strike("3.3", "MAP_ICM of %d entries is lost".formatted(modifier));
        } else if (command == HcrCommand.MAP_ICM) {
          translation.map(mailbox, modifier);
        } else {
          translation.unmap(in, modifier);
        }
      }
      case INIT_HCA, CLOSE_HCA -> {
        if (!contexts.execute(command, opModifier, modifier, in, mailbox)) {
          return false;
        }
        if (command == HcrCommand.INIT_HCA) {
          translation.initialize(mailbox);
        } else {
          translation.close();
        }
      }
      case QUERY_QP -> {
        if (!contexts.execute(command, opModifier, modifier, in, mailbox)) {
          return false;
        }
        host.write(out, mailbox, 0, command.outboxSize());
      }
      default -> {
        return contexts.execute(command, opModifier, modifier, in, mailbox);
      }
    }
    return true;
  }

  private void answer(long out, byte[] bytes) {
    host.write(out, MemorySegment.ofArray(bytes), 0, bytes.length);
  }

  /** As after power-on. */
  void reset() {
    hung = false;
  }
}
