package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.SentContexts;

/**
 * A completion queue in memory. The driver fills it with {@link Cqe#SENTINEL} bytes, and after a
 * poll sets the last dword to it again: a slot is valid, free, or consumed, where the rest of an
 * entry is still to be seen.
 */
public final class CqeSlots implements Slots {
  /** Where the interface document defines an entry. */
  public static final String TABLE = "tables 3-3-1 to 3-3-4 (CQE)";

  private static final MemorySegment SENTINELS = sentinels();

  private final MemorySegment ring;
  private final SentContexts sent;
  private final HardwareProfile profile;

  /**
   * A queue.
   *
   * @param ring its bytes
   * @param sent the contexts of its queue pairs
   */
  public CqeSlots(MemorySegment ring, SentContexts sent, HardwareProfile profile) {
    this.ring = ring;
    this.sent = sent;
    this.profile = profile;
  }

  private static MemorySegment sentinels() {
    MemorySegment entry = MemorySegment.ofArray(new byte[Cqe.SIZE]);
    Cqe.fill(entry, 0, 1);
    return entry;
  }

  @Override
  public int count() {
    return (int) (ring.byteSize() / Cqe.SIZE);
  }

  private static long at(int slot) {
    return (long) slot * Cqe.SIZE;
  }

  private int last(int slot) {
    return Cqe.plainLastDword(ring, at(slot));
  }

  private boolean isValid(int slot) {
    return Cqe.owner(last(slot)) != Cqe.SENTINEL;
  }

  @Override
  public boolean isEmpty(int slot) {
    MemorySegment entry = ring.asSlice(at(slot), Cqe.SIZE);
    return entry.mismatch(SENTINELS) < 0;
  }

  private boolean isError(int slot) {
    return Cqe.opcode(last(slot)) == WqeOpcode.INVALID;
  }

  @Override
  public Fields fields(int slot) {
    long at = at(slot);
    Fields fields =
        new Fields().put("state", isValid(slot) ? "valid" : isEmpty(slot) ? "free" : "consumed");
    if (isEmpty(slot)) {
      return fields;
    }
    fields.put("my_qpn", Cqe.qpn(ring, at));
    fields.put("my_ee", Cqe.ee(ring, at));
    fields.put("rqpn", remote(slot));
    fields.put("rlid", Cqe.remoteLid(ring, at));
    fields.put("g_mlpath", Cqe.path(ring, at));
    fields.put("sl_ipok", Cqe.slIpok(ring, at));
    if (isValid(slot) && isError(slot)) {
      int code = Cqe.syndrome(ring, at);
      fields.put("syndrome", Shown.named(code, Syndrome.of(code).name()));
      fields.put("vendor_err", Cqe.vendorError(ring, at));
      fields.put("db_cnt", Cqe.doorbellCount(ring, at));
    } else {
      fields.put("imm_etype_pkey_eec", Shown.hex(Cqe.immediate(ring, at) & 0xffff_ffffL, 8));
    }
    fields.put("byte_cnt", Integer.toUnsignedLong(Cqe.byteCount(ring, at)));
    fields.put("wqe", Shown.hex(Cqe.wqeOffset(ring, at) & 0xffff_ffffL, 1));
    if (isValid(slot)) {
      boolean send = Cqe.isSend(last(slot));
      int opcode = Cqe.opcode(last(slot));
      fields.put("owner", Shown.hex(Cqe.owner(last(slot)), 2));
      fields.put("is_send", send ? 1 : 0);
      fields.put(
          "opcode",
          Shown.named(opcode, isError(slot) || send ? WqeOpcode.name(opcode) : received(opcode)));
    }
    return fields;
  }

  /** On RC sends the first RTL has the key of the queue here. */
  private Object remote(int slot) {
    int value = Cqe.remoteQpn(ring, at(slot));
    boolean key =
        profile == HardwareProfile.R1
            && Cqe.isSend(last(slot))
            && context(Cqe.qpn(ring, at(slot)))
                .filter(qpc -> QueuePairContext.SERVICE_TYPE.get(qpc) == QpcServiceType.RC)
                .isPresent();
    return key ? Shown.named(value, "the CQ's lkey") : value;
  }

  private static String received(int opcode) {
    return switch (opcode) {
      case BthOpcode.SEND_LAST -> "SEND_LAST";
      case BthOpcode.SEND_LAST_IMM -> "SEND_LAST_IMM";
      case BthOpcode.SEND_ONLY -> "SEND_ONLY";
      case BthOpcode.SEND_ONLY_IMM -> "SEND_ONLY_IMM";
      case BthOpcode.WRITE_LAST_IMM -> "WRITE_LAST_IMM";
      case BthOpcode.WRITE_ONLY_IMM -> "WRITE_ONLY_IMM";
      default -> "not an opcode of a receive";
    };
  }

  private Optional<MemorySegment> context(int qpn) {
    return sent.of(CardObject.QP, qpn)
        .filter(SentContexts.Sent::isInForce)
        .flatMap(SentContexts.Sent::wholeContext);
  }

  /** wqe of the newest completion of a send that was not polled; empty when there is none. */
  public OptionalInt newestSend(int qpn) {
    OptionalInt newest = OptionalInt.empty();
    int first = Run.of(count(), this::isValid).first().orElse(0);
    for (int i = 0; i < count(); i++) {
      int slot = (first + i) % count();
      if (isValid(slot) && Cqe.isSend(last(slot)) && Cqe.qpn(ring, at(slot)) == qpn) {
        newest = OptionalInt.of(Cqe.wqeOffset(ring, at(slot)));
      }
    }
    return newest;
  }

  @Override
  public List<String> problems(int slot) {
    List<String> problems = new ArrayList<>();
    if (!isValid(slot)) {
      return problems;
    }
    int owner = Cqe.owner(last(slot));
    if (owner != profile.cqeOwner()) {
      problems.add(
          "owner is %02xh, which profile %s does not write".formatted(owner, profile.name()));
    }
    int qpn = Cqe.qpn(ring, at(slot));
    Optional<MemorySegment> context = context(qpn);
    if (context.isEmpty()) {
      problems.add("my_qpn is %d, and that QP is not in force".formatted(qpn));
    } else if (profile != HardwareProfile.R2 && Cqe.isSend(last(slot))) {
      int length = QueuePairContext.SEND_WQE_LENGTH.get(context.get());
      int stride = 1 << QueuePairContext.SQ_ENTRY_SIZE.get(context.get());
      int offset = Cqe.wqeOffset(ring, at(slot));
      if (offset < 0 || offset >= length || offset % stride != 0) {
        problems.add(
            "wqe is 0x%x, which is no slot of %d bytes in a send queue of %d bytes"
                .formatted(offset, stride, length));
      }
    }
    return problems;
  }

  @Override
  public Fields positions() {
    Run valid = Run.of(count(), this::isValid);
    Run written = Run.of(count(), slot -> !isEmpty(slot));
    return new Fields()
        .put("producer", Run.shown(valid.end().isPresent() ? valid.end() : written.end()))
        .put("consumer", Run.shown(valid.first().isPresent() ? valid.first() : written.end()));
  }

  @Override
  public List<String> problems() {
    return Run.of(count(), this::isValid).problems();
  }
}
