package org.hghca.tools.card;

import java.util.ArrayList;
import java.util.List;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.BitNames;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/** {@code cfg}: configuration space by names (PCI Local Bus Specification, type 0 header). */
final class Configuration {
  static final String USAGE = "cfg, or cfg read OFFSET [8|16|32]";

  private static final int STATUS = 0x06;
  private static final int BAR0 = 0x10;
  private static final int SUBSYSTEM = 0x2c;
  private static final int HEADER = 0x0e;
  private static final int BARS = 6;
  private static final int DWORD_BITS = 32;
  private static final int BAR_IO = 1;
  private static final int BAR_TYPE_64 = 0b100;
  private static final int BAR_TYPE = 0b110;
  private static final int BAR_PREFETCHABLE = 0b1000;

  private static final BitNames COMMAND_BITS =
      BitNames.of(
          "I/O space, memory space, bus master, special cycles, memory write and invalidate,"
              + " VGA palette snoop, parity error response, -, SERR enable, fast back-to-back,"
              + " INTx disable");
  private static final BitNames STATUS_BITS =
      BitNames.of(
          "-, -, -, interrupt, capability list, 66 MHz, -, fast back-to-back,"
              + " master data parity error, -, -, signaled target abort, received target abort,"
              + " received master abort, signaled system error, detected parity error");

  private final Card card;

  Configuration(Card card) {
    this.card = card;
  }

  /** Decodes all of it, or reads one register. */
  void run(Words words, Fields reply) {
    if (words.isEmpty()) {
      card.checkPresent();
      decode(card.untapped(), reply);
      return;
    }
    String verb = words.next();
    if (!verb.equals("read")) {
      throw new RequestFailedException("cfg has no command '%s': %s".formatted(verb, USAGE));
    }
    read(words, reply);
  }

  private void read(Words words, Fields reply) {
    String place = words.next("an offset is missing: " + USAGE);
    String width = words.isEmpty() ? Integer.toString(DWORD_BITS) : words.next();
    words.end(USAGE);
    int offset = Numbers.parseInt("the offset", place, Integer.SIZE - 1);
    int bits =
        switch (width) {
          case "8", "16", "32" -> Integer.parseInt(width);
          default ->
              throw new RequestFailedException(
                  "a width in configuration space is 8, 16 or 32 bits, not '%s'".formatted(width));
        };
    int bytes = bits / Byte.SIZE;
    if (offset % bytes != 0) {
      throw new RequestFailedException(
          "offset 0x%x is not aligned: an access of %d bits needs a multiple of %d"
              .formatted(offset, bits, bytes));
    }
    if (offset > ConfigurationSpace.SIZE - bytes) {
      throw new RequestFailedException(
          "offset 0x%x is outside: configuration space has 0x%x bytes"
              .formatted(offset, ConfigurationSpace.SIZE));
    }
    card.checkPresent();
    int value = card.untapped().configuration().read(offset, bytes);
    reply.put("offset", Shown.hex(offset, 3));
    reply.put("bits", bits);
    reply.put("value", Shown.hex(Integer.toUnsignedLong(value), bits / 4));
  }

  private static void decode(PciFunction function, Fields reply) {
    ConfigurationSpace space = function.configuration();
    reply.put("vendor", Shown.hex(space.vendorId(), 4));
    reply.put("device", Shown.hex(space.deviceId(), 4));
    reply.put("revision", Shown.hex(space.revisionId(), 2));
    reply.put("class", Shown.hex(space.classCode(), 6));
    reply.put("subsystem_vendor", Shown.hex(space.read(SUBSYSTEM, 2), 4));
    reply.put("subsystem", Shown.hex(space.read(SUBSYSTEM + 2, 2), 4));
    reply.put("header_type", space.read(HEADER, 1) & 0x7f);
    reply.put("command_register", COMMAND_BITS.set(space.read(ConfigurationSpace.COMMAND, 2)));
    reply.put("status_register", STATUS_BITS.set(space.read(STATUS, 2)));
    reply.put("bars", bars(function));
    reply.put("capabilities", new Capabilities(space).all());
    reply.put("extended_capabilities", new ExtendedCapabilities(space).all());
  }

  private static List<Fields> bars(PciFunction function) {
    List<Fields> bars = new ArrayList<>();
    for (int bar = 0; bar < BARS; bar++) {
      long size = size(function, bar);
      if (size > 0) {
        int low = function.configuration().read(BAR0 + Integer.BYTES * bar, Integer.BYTES);
        bars.add(
            new Fields()
                .put("bar", bar)
                .put("size", Shown.hex(size, 1))
                .put("register", Shown.hex(Integer.toUnsignedLong(low), 8))
                .put("type", type(low)));
      }
    }
    return bars;
  }

  private static String type(int low) {
    if ((low & BAR_IO) != 0) {
      return "I/O";
    }
    return ((low & BAR_TYPE) == BAR_TYPE_64 ? "memory, 64-bit" : "memory, 32-bit")
        + ((low & BAR_PREFETCHABLE) != 0 ? ", prefetchable" : "");
  }

  /** 0 where there is none. */
  private static long size(PciFunction function, int bar) {
    try {
      return function.region(bar).size();
    } catch (VfioException e) {
      return 0;
    }
  }
}
