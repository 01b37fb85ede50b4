package org.hghca.conformance.hostile;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;

/** Records the commands that a correct driver issues, with their inboxes. */
final class CommandRecorder implements Sabotage {

  /**
   * A command.
   *
   * @param in address of the inbox, or the argument itself
   * @param inbox its content; empty when there is none
   */
  record Given(HcrCommand command, int opModifier, long in, int modifier, long out, byte[] inbox) {}

  private final String name;
  private final List<Given> given = new ArrayList<>();
  private final int[] hcr = new int[Hcr.SIZE / Integer.BYTES];

  CommandRecorder(String name) {
    this.name = name;
  }

  /** All of them, oldest first. */
  List<Given> given() {
    return List.copyOf(given);
  }

  private long parameter(int offset) {
    return (long) hcr[offset / 4] << 32 | Integer.toUnsignedLong(hcr[offset / 4 + 1]);
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    long at = offset - HardwareProfile.S.hcrBase();
    if (bar == Bar.BAR0 && at >= 0 && at < Hcr.SIZE) {
      hcr[(int) at / 4] = (int) value;
      if (at == Hcr.COMMAND && Hcr.go((int) value)) {
        HcrCommand.of(Hcr.op((int) value)).ifPresent(command -> keep(command, (int) value));
      }
    }
    return true;
  }

  private void keep(HcrCommand command, int word) {
    int opModifier = Hcr.opModifier(word);
    int modifier = hcr[Hcr.IN_MODIFIER / 4];
    long in = parameter(Hcr.IN_PARAM_HIGH);
    int size =
        switch (command) {
          case MAP_ICM -> MapIcm.size(modifier);
          case WRITE_MTT -> WriteMtt.size(modifier);
          default -> command.hasInbox(opModifier) ? command.inboxSize() : 0;
        };
    byte[] inbox =
        size == 0
            ? new byte[0]
            : HostileProvider.device(name).read(in, size).toArray(ValueLayout.JAVA_BYTE);
    given.add(new Given(command, opModifier, in, modifier, parameter(Hcr.OUT_PARAM_HIGH), inbox));
  }
}
