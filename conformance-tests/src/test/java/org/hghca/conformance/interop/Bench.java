package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.PortState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;

/**
 * A software HCA that the guest reaches, and the guest. Closing it ends what it has started.
 *
 * @param programs of ours that were started on the HCA
 * @param guestGid the guest's address
 * @param gidIndex its index in the guest's table
 * @param netdev the name of the network card in its kernel
 */
record Bench(
    Locator locator,
    Context context,
    SoftwareHca hca,
    ProtectionDomain domain,
    GuestVerbs guest,
    Gid guestGid,
    int gidIndex,
    String netdev,
    List<OurProgram> programs)
    implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Opens one, with further parameters for the HCA's locator. */
  static Bench open(GuestVerbs guest, String parameters) {
    Locator locator =
        Locator.parse(
            "model:rxe?net=%s&ip=10.99.0.1&mac=02:00:00:00:00:01&mtu=4200%s"
                .formatted(System.getProperty("hghca.lab.rxe.net"), parameters));
    assertThat(ModelProvider.hca(locator)).as("the HCA of the test before").isEmpty();
    Context context = RdmaDevices.open(locator.toString());
    try {
      awaitPort(context);
      return of(locator, context, guest);
    } catch (RuntimeException | Error e) {
      context.close();
      throw e;
    }
  }

  private static void awaitPort(Context context) {
    Instant end = Instant.now().plus(PATIENCE);
    while (context.queryPort(1).state() != PortState.ACTIVE) {
      assertThat(Instant.now()).as("the guest's QEMU connects").isBefore(end);
      Thread.onSpinWait();
    }
  }

  private static Bench of(Locator locator, Context context, GuestVerbs guest) {
    Map<String, String> about = guest.ask("about");
    return new Bench(
        locator,
        context,
        ModelProvider.hca(locator).orElseThrow(),
        context.allocateProtectionDomain(),
        guest,
        Gid.ofHex(about.get("gid")),
        Integer.parseInt(about.get("index")),
        about.get("netdev"),
        new ArrayList<>());
  }

  /** Which of its own GIDs the HCA sends from: that of its IPv4 address, as the guest's is. */
  int ownGidIndex() {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().ipv4().isPresent())
        .findFirst()
        .orElseThrow()
        .index();
  }

  /** The counters of the HCA, for messages of failures. */
  String counts() {
    return "%s, %s".formatted(hca.counters(), hca.linkCounters());
  }

  /** Starts a command of {@code hghca} on the HCA, whose words are between spaces. */
  OurProgram start(String command) {
    OurProgram program = OurProgram.start(context.device().locator(), command);
    programs.add(program);
    return program;
  }

  /**
   * Ends the programs and closes the HCA: the next test opens another one on the same network.
   *
   * @throws AssertionError when a program does not end
   */
  @Override
  public void close() {
    programs.forEach(OurProgram::interrupt);
    try {
      programs.forEach(OurProgram::awaitEnd);
    } finally {
      domain.close();
      context.close();
    }
    assertThat(ModelProvider.hca(locator)).as("who has the HCA open?").isEmpty();
  }
}
