package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.util.List;
import org.hghca.programs.NotOpenedException;

/** The whole demo, with both sides in this process. */
public final class Demo {
  private final String serverDevice;
  private final String clientDevice;
  private final Journal journal;

  /**
   * A demo on two devices, which may be the same.
   *
   * @param server name or locator
   * @param client name or locator
   * @param steps receives the steps
   */
  public Demo(String server, String client, PrintWriter steps) {
    this.serverDevice = server;
    this.clientDevice = client;
    this.journal = new Journal(steps);
  }

  /**
   * Runs it.
   *
   * @param nanos how long to measure in all
   * @param messageBytes the size of large messages, 8 to 2^20
   * @throws CheckFailedException when a check does not hold
   * @throws NotOpenedException when a device cannot be opened
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  public DemoResult run(long nanos, int messageBytes) {
    try (Side server = Side.open(Side.SERVER, serverDevice);
        Side client = Side.open(Side.CLIENT, clientDevice)) {
      return new DemoRun(Sides.of(server, client, journal)).run(new Plan(nanos, messageBytes));
    }
  }

  /** The checks that have held so far, in order. */
  public List<String> checks() {
    return journal.checks();
  }
}
