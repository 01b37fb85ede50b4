package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.PortState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test a {@link Bench}, which closes behind it, or the guest alone. The guest connects
 * once; each test has a new software HCA on the same network.
 *
 * <p>The system properties are {@code hghca.lab.rxe}, a folder that the guest sees, {@code
 * hghca.lab.rxe.net}, the network as {@code net=} in a locator names it, and {@code
 * hghca.lab.rxe.tcp}, the port of this machine that forwards to port 18515 of the guest.
 */
final class SoftRoce implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SoftRoce.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /**
   * A software HCA that the guest reaches, and the guest.
   *
   * @param guestGid the guest's address
   * @param gidIndex its index in the guest's table
   * @param netdev the name of the network card in its kernel
   */
  record Bench(
      Context context,
      SoftwareHca hca,
      ProtectionDomain domain,
      GuestVerbs guest,
      Gid guestGid,
      int gidIndex,
      String netdev)
      implements AutoCloseable {

    /** Opens one, with further parameters for the HCA's locator. */
    static Bench open(GuestVerbs guest, String parameters) {
      String locator =
          "model:rxe?net=%s&ip=10.99.0.1&mac=02:00:00:00:00:01&mtu=4200%s"
              .formatted(System.getProperty("hghca.lab.rxe.net"), parameters);
      Context context = RdmaDevices.open(locator);
      Instant end = Instant.now().plus(PATIENCE);
      while (context.queryPort(1).state() != PortState.ACTIVE) {
        assertThat(Instant.now()).as("the guest's QEMU connects").isBefore(end);
        Thread.onSpinWait();
      }
      Map<String, String> about = guest.ask("about");
      return new Bench(
          context,
          ModelProvider.hca(Locator.parse(locator)).orElseThrow(),
          context.allocateProtectionDomain(),
          guest,
          Gid.ofHex(about.get("gid")),
          Integer.parseInt(about.get("index")),
          about.get("netdev"));
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

    @Override
    public void close() {
      domain.close();
      context.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == GuestVerbs.class || type == Bench.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (parameter.getParameter().getType() == GuestVerbs.class) {
      return guest(context);
    }
    return context
        .getStore(NAMESPACE)
        .computeIfAbsent(Bench.class, key -> Bench.open(guest(context), ""));
  }

  private static GuestVerbs guest(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent(
            GuestVerbs.class,
            key -> GuestVerbs.await(Path.of(System.getProperty("hghca.lab.rxe"))),
            GuestVerbs.class);
  }
}
