package org.hghca.mailbox;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.vfio.MmioHandler;

/**
 * The seven HCR dwords of table 3-1-3 in BAR0, with scripted answers. Records every access, and
 * reports every store while go is set.
 */
final class FakeHcr implements MmioHandler {
  private static final int GO = 1 << 23;

  /** One access to the registers; offsets from the first HCR dword. */
  record Access(boolean write, long offset, int width, long value) {
    static Access write(long offset, long value) {
      return new Access(true, offset, 4, value);
    }
  }

  /** A command as the card received it. */
  record Issued(long inParam, int inModifier, long outParam, int token, int dword6, byte[] inbox) {
    int opcode() {
      return dword6 & 0xfff;
    }

    int opModifier() {
      return dword6 >>> 12 & 0xff;
    }

    /** Part of the inbox in hexadecimal. */
    String inbox(int from, int to) {
      return HexFormat.of().formatHex(inbox, from, to);
    }

    /** Whether everything in the inbox from an offset on is zero. */
    boolean zeroFrom(int offset) {
      for (int i = offset; i < inbox.length; i++) {
        if (inbox[i] != 0) {
          return false;
        }
      }
      return true;
    }
  }

  final FakeFunction function = new FakeFunction(1 << 20, this);
  final List<Access> accesses = new ArrayList<>();
  final List<Issued> issued = new ArrayList<>();
  final List<String> violations = new ArrayList<>();

  /** The status of the next commands. */
  int status;

  /** Number of reads of dword 6 that still return go set. */
  int busyPolls;

  /** Go is never cleared. */
  boolean hang;

  /** Every read returns all ones. */
  boolean gone;

  /** Every access fails like one to a mapped register of an unplugged device. */
  boolean pulled;

  /** The bits of a store that the token register keeps. */
  int tokenMask = 0xffff0000;

  /** What commands with an outbox write there, in hexadecimal. */
  String outbox = "";

  /** Runs when a command has been accepted. */
  Runnable onCommand = () -> {};

  private final long base;
  private final int[] dwords = new int[7];
  private int pollsLeft;

  /** An HCR at the offset of the interface document (table 3-1-2). */
  FakeHcr() {
    this(0x80000);
  }

  FakeHcr(long base) {
    this.base = base;
  }

  @Override
  public synchronized long read(long offset, int width) {
    checkPulled();
    accesses.add(new Access(false, offset - base, width, 0));
    if (gone) {
      return width == 8 ? -1 : 0xffff_ffffL;
    }
    int index = index(offset, width);
    if (index < 0) {
      return 0;
    }
    if (index == 6 && (dwords[6] & GO) != 0 && !hang && pollsLeft-- <= 0) {
      complete();
    }
    return dwords[index] & 0xffff_ffffL;
  }

  @Override
  public synchronized void write(long offset, int width, long value) {
    checkPulled();
    accesses.add(new Access(true, offset - base, width, value));
    int index = index(offset, width);
    if (index < 0) {
      violations.add("store of %d bytes at 0x%x".formatted(width, offset));
      return;
    }
    if ((dwords[6] & GO) != 0) {
      violations.add("store at 0x%x while go is set".formatted(offset));
    }
    dwords[index] = index == 5 ? (int) value & tokenMask : (int) value;
    if (index == 6 && (value & GO) != 0) {
      pollsLeft = busyPolls;
      take();
    }
  }

  /** Completes a hung command late. */
  synchronized void completeLate() {
    hang = false;
    complete();
  }

  /** Sets go as a command of another driver would, for some reads or permanently. */
  synchronized void setGo(int polls) {
    dwords[6] |= GO;
    pollsLeft = polls;
  }

  /** The one command since the last call, or since the beginning. */
  synchronized Issued only() {
    if (issued.size() != 1) {
      throw new AssertionError("not one command but " + issued);
    }
    return issued.removeFirst();
  }

  /** The stores of the last command: seven for each. */
  synchronized List<Access> lastStores() {
    List<Access> stores = accesses.stream().filter(Access::write).toList();
    return stores.subList(stores.size() - 7, stores.size());
  }

  private void take() {
    long in = (long) dwords[0] << 32 | dwords[1] & 0xffff_ffffL;
    long out = (long) dwords[3] << 32 | dwords[4] & 0xffff_ffffL;
    byte[] inbox = {};
    int opcode = dwords[6] & 0xfff;
    boolean immediate = opcode == 0xff9 || opcode == 0x012;
    if (in != 0 && !immediate) {
      inbox = function.at(in).asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE);
    }
    issued.add(new Issued(in, dwords[2], out, dwords[5], dwords[6], inbox));
    onCommand.run();
  }

  private void complete() {
    long out = (long) dwords[3] << 32 | dwords[4] & 0xffff_ffffL;
    if (out != 0 && !outbox.isEmpty()) {
      byte[] bytes = HexFormat.of().parseHex(outbox);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, function.at(out), 0, bytes.length);
    }
    // Every completion clears out_param, loads the status and clears go; E, op_modifier and op stay
    // as they were.
    dwords[3] = 0;
    dwords[4] = 0;
    dwords[6] = dwords[6] & 0x007fffff & ~GO | status << 24;
  }

  private void checkPulled() {
    if (pulled) {
      throw new InternalError("a fault occurred in an unsafe memory access operation");
    }
  }

  private int index(long offset, int width) {
    long relative = offset - base;
    return width == 4 && relative >= 0 && relative < 28 ? (int) (relative / 4) : -1;
  }
}
