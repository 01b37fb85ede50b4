package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Gid;
import org.hghca.verbs.PortState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;

/**
 * A software device that the guest reaches, and the guest. Closing it ends what it has started.
 *
 * @param hca the software device
 * @param programs of ours that were started on it
 * @param guestGid the guest's address
 * @param gidIndex its index in the guest's table
 * @param netdev the name of the network card in its kernel
 */
record Bench(
    Card card,
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
  /** Of the device, on the guest's network. */
  static final String ADDRESS = "10.99.0.1";

  static final String MAC = "02:00:00:00:00:01";
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Opens one, with further parameters for the device's locator. */
  static Bench open(Card card, GuestVerbs guest, String parameters) {
    Locator locator = card.locator(parameters);
    assertThat(card.find(locator)).as("the device of the test before").isEmpty();
    Context context = RdmaDevices.open(locator.toString());
    try {
      awaitPort(context);
      Bench bench = of(card, locator, context, guest);
      bench.introduce();
      return bench;
    } catch (RuntimeException | Error e) {
      context.close();
      throw e;
    }
  }

  private static void awaitPort(Context context) {
    Instant end = Instant.now().plus(PATIENCE);
    while (context.queryPort(1).state() != PortState.ACTIVE) {
      assertThat(Instant.now()).as("the guest's QEMU connects").isBefore(end);
      Pause.briefly();
    }
  }

  private static Bench of(Card card, Locator locator, Context context, GuestVerbs guest) {
    Map<String, String> about = guest.ask("about");
    return new Bench(
        card,
        locator,
        context,
        card.find(locator).orElseThrow(),
        context.allocateProtectionDomain(),
        guest,
        Gid.ofHex(about.get("gid")),
        Integer.parseInt(about.get("index")),
        about.get("netdev"),
        new ArrayList<>());
  }

  /** Tells both ends the other's MAC where neither can ask for it. */
  private void introduce() {
    if (card == Card.VIRTIO) {
      String mac = guest.ask("about").get("mac");
      context.addNeighbor(guestGid, Long.parseLong(mac.replace(":", ""), 16));
      guest.run("ip neigh replace %s lladdr %s dev %s".formatted(ADDRESS, MAC, netdev));
    }
  }

  private void forget() {
    if (card == Card.VIRTIO) {
      guest.run("ip neigh del %s dev %s".formatted(ADDRESS, netdev));
    }
  }

  /** Which of its own GIDs the device sends from: that of its IPv4 address, as the guest's is. */
  int ownGidIndex() {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().ipv4().isPresent())
        .findFirst()
        .orElseThrow()
        .index();
  }

  boolean has(DeviceFeature feature) {
    return context.queryDevice().has(feature);
  }

  /** Skips a test of what the device has not. */
  void assume(DeviceFeature feature) {
    assumeTrue(has(feature), "%s: no %s".formatted(card, feature));
  }

  /** Every access of the guest that the device knows. */
  AccessFlag[] access() {
    EnumSet<AccessFlag> access =
        EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    if (has(DeviceFeature.ATOMICS)) {
      access.add(AccessFlag.REMOTE_ATOMIC);
    }
    return access.toArray(AccessFlag[]::new);
  }

  /** The counters of the device, for messages of failures. */
  String counts() {
    return "%s, %s".formatted(hca.counters(), hca.linkCounters());
  }

  /** Starts a command of {@code hghca} on the device, whose words are between spaces. */
  OurProgram start(String command) {
    OurProgram program = OurProgram.start(context.device().locator(), command);
    programs.add(program);
    return program;
  }

  /**
   * Ends the programs and closes the device: the next test opens another one on the same network.
   *
   * @throws AssertionError when a program does not end
   */
  @Override
  public void close() {
    programs.forEach(OurProgram::interrupt);
    try {
      programs.forEach(OurProgram::awaitEnd);
    } finally {
      forget();
      domain.close();
      context.close();
    }
    assertThat(card.find(locator)).as("who has the device open?").isEmpty();
  }
}
