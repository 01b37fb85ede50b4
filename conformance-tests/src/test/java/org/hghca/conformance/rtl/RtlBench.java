package org.hghca.conformance.rtl;

import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.Locator;

/** The software HCA as the makers' first RTL, with memory that records its accesses. */
final class RtlBench implements AutoCloseable {
  private static final int DWORD = 4;
  private static final int CONFIGURATION_COMMAND = 0x04;
  private static final int BUS_MASTER = 1 << 2;

  final FlatMemory memory = new FlatMemory();
  final SoftwareHca card;

  RtlBench() {
    card = ModelProvider.plugIn(Locator.parse("model:bench?mode=inline&profile=r1"));
    card.attach(memory);
    card.writeConfiguration(CONFIGURATION_COMMAND, 2, BUS_MASTER);
  }

  int read(long offset) {
    return (int) card.read(Bar.BAR0, offset, DWORD);
  }

  void write(long offset, int value) {
    card.write(Bar.BAR0, offset, DWORD, Integer.toUnsignedLong(value));
  }

  /** Runs a command; returns the dword at 18h afterwards. */
  int command(int op, int opModifier, long in, int modifier, long out) {
    write(Hcr.IN_PARAM_HIGH, (int) (in >>> 32));
    write(Hcr.IN_PARAM_LOW, (int) in);
    write(Hcr.IN_MODIFIER, modifier);
    write(Hcr.OUT_PARAM_HIGH, (int) (out >>> 32));
    write(Hcr.OUT_PARAM_LOW, (int) out);
    write(Hcr.COMMAND, Hcr.command(op, opModifier));
    return read(Hcr.COMMAND);
  }

  @Override
  public void close() {
    card.close();
  }
}
