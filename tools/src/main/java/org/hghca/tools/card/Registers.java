package org.hghca.tools.card;

import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.vfio.MmioRegion;

/** {@code reg}: single accesses to the registers behind the BARs. */
final class Registers {
  static final String USAGE =
      "reg read BAR+OFFSET [8|16|32|64] [--unsafe], reg write BAR+OFFSET VALUE [8|16|32|64]"
          + " [--unsafe]";

  private static final int DWORD_BITS = 32;
  private static final long DWORD_ONES = 0xffff_ffffL;
  private static final int BARS = 6;

  private final Card card;

  Registers(Card card) {
    this.card = card;
  }

  /** One access: where, and how wide. */
  private record Access(int bar, long offset, int bits) {
    static Access of(String place, int bits) {
      int plus = place.indexOf('+');
      if (plus < 0) {
        throw new RequestFailedException(
            "a register is BAR+OFFSET, such as 0+0x18, not '%s'".formatted(place));
      }
      int bar = Numbers.parseInt("the BAR", place.substring(0, plus), Integer.SIZE - 1);
      if (bar >= BARS) {
        throw new RequestFailedException("the BAR is 0 to 5, not %d".formatted(bar));
      }
      long offset = Numbers.parse("the offset", place.substring(plus + 1), Long.SIZE - 1);
      return new Access(bar, offset, bits);
    }

    int bytes() {
      return bits / Byte.SIZE;
    }

    void checkInside(long size) {
      if (offset % bytes() != 0) {
        throw new RequestFailedException(
            "%s is not aligned: an access of %d bits needs a multiple of %d"
                .formatted(this, bits, bytes()));
      }
      if (offset > size - bytes()) {
        throw new RequestFailedException(
            "%s is outside: BAR%d has 0x%x bytes".formatted(this, bar, size));
      }
    }

    boolean isForbidden() {
      return offset >= Bar.FORBIDDEN_RTL_FIRST;
    }

    @Override
    public String toString() {
      return "BAR%d + 0x%05x".formatted(bar, offset);
    }
  }

  /** Does the access of a line. */
  void run(Words words, Fields reply) {
    boolean unsafe = words.take("--unsafe");
    String verb = words.next(USAGE);
    boolean write = verb.equals("write");
    if (!write && !verb.equals("read")) {
      throw new RequestFailedException("reg has no command '%s': %s".formatted(verb, USAGE));
    }
    String place = words.next("a register is missing: " + USAGE);
    String text = write ? words.next("a value is missing: " + USAGE) : "0";
    int bits = words.isEmpty() ? DWORD_BITS : bits(words.next());
    words.end(USAGE);
    Access access = Access.of(place, bits);
    long value = Numbers.parse("the value", text, bits);
    if (!unsafe && !card.isKnownS()) {
      refuse(access, write, value)
          .ifPresent(
              why -> {
                throw new RequestFailedException(
                    "%s is not %s: %s; --unsafe does it, and so does probe where it finds a card of"
                            .formatted(access, write ? "written" : "read", why)
                        + " profile s");
              });
    }
    card.decodeMemory();
    MmioRegion region = region(access);
    access.checkInside(region.size());
    reply.put("bar", access.bar());
    reply.put("offset", Shown.hex(access.offset(), 5));
    reply.put("bits", bits);
    if (write) {
      region.write(access.offset(), access.bytes(), value);
      reply.put("written", Shown.hex(value, bits / 4));
    } else {
      long read = region.read(access.offset(), access.bytes());
      reply.put("value", Shown.hex(read, bits / 4));
      if (read == DWORD_ONES >>> DWORD_BITS - Math.min(bits, DWORD_BITS) || read == -1) {
        card.checkPresent();
      }
      describe(access, (int) read, reply);
    }
  }

  private static int bits(String word) {
    return switch (word) {
      case "8", "16", "32", "64" -> Integer.parseInt(word);
      default ->
          throw new RequestFailedException(
              "a width is 8, 16, 32 or 64 bits, not '%s'".formatted(word));
    };
  }

  /** Why an access could stop a card of the RTL; empty when it cannot. */
  private Optional<String> refuse(Access access, boolean write, long value) {
    if (access.bar() == Bar.BAR2) {
      return Optional.of(
          write
              ? "a store to BAR2 rings a doorbell, and a wrong one stops the RTL"
              : "the RTL never answers a read of BAR2, and the host waits for it");
    }
    if (access.bar() != Bar.BAR0) {
      return Optional.of("the RTL has registers in BAR0 only");
    }
    if (access.isForbidden()) {
      return Optional.of(
          "the RTL does not answer from 0x10000 to 0x9ffff, and the third access stops BAR0");
    }
    if (access.bits() != DWORD_BITS) {
      return Optional.of(
          "the RTL takes 32 bits only; a narrower store shifts all later reads, a wider one is"
              + " lost");
    }
    if (write && isCommand(access.offset()) && Hcr.go((int) value)) {
      return Optional.of("bit 23 is go, which starts a command: hcr gives commands");
    }
    return Optional.empty();
  }

  /** Whether a dword is that of go, wherever the HCR is. */
  private boolean isCommand(long offset) {
    return offset == Bar.HCR_RTL + Hcr.COMMAND
        || card.hcrBase().filter(base -> offset == base + Hcr.COMMAND).isPresent();
  }

  /** BAR0 through what records commands, as far as that allows the access. */
  private MmioRegion region(Access access) {
    boolean recorded =
        access.bar() == Bar.BAR0
            && access.bits() == DWORD_BITS
            && (card.isKnownS() || !access.isForbidden());
    return (recorded ? card.function() : card.untapped()).region(access.bar());
  }

  /** The parts of the dword with go, where the HCR is known. */
  private void describe(Access access, int value, Fields reply) {
    boolean command =
        access.bar() == Bar.BAR0
            && access.bits() == DWORD_BITS
            && card.hcrBase().filter(base -> base + Hcr.COMMAND == access.offset()).isPresent();
    if (command) {
      int opcode = Hcr.op(value);
      reply.put("status", Hcr.status(value));
      reply.put("go", Hcr.go(value));
      reply.put("e", Hcr.event(value));
      reply.put("op_modifier", Hcr.opModifier(value));
      reply.put("op", Shown.named(opcode, HcrCommand.of(opcode).map(Enum::name).orElse("unknown")));
    }
  }
}
