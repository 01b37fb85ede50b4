package org.hghca.programs;

import java.io.PrintWriter;
import java.util.List;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import picocli.CommandLine.Option;

/** The device of a program that has the options of an original. */
public final class DeviceOption {
  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description = "Name or locator of the device (default: the first card).")
  private String device;

  /**
   * Its name or locator. Without a card it is the software HCA.
   *
   * @param err is told so
   */
  public String name(PrintWriter err) {
    if (device != null) {
      return device;
    }
    List<RdmaDevice> cards = RdmaDevices.list();
    return cards.isEmpty() ? EmbeddedHca.insteadOfCard(err) : cards.getFirst().name();
  }
}
