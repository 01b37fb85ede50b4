package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.user.UserServer;

/** Two software HCAs at either end of a cable, each served at a socket. */
final class ServedCards implements AutoCloseable {
  private static final AtomicInteger CABLES = new AtomicInteger();

  final UserServer left;
  final UserServer right;
  final SoftwareHca leftHca;
  final SoftwareHca rightHca;
  private final Deque<UserServer> servers = new ArrayDeque<>();

  ServedCards(Path directory) {
    String cable = "served" + CABLES.incrementAndGet();
    try {
      leftHca = plugIn(directory.resolve("left"), cable);
      left = serve(directory.resolve("left"), leftHca);
      rightHca = plugIn(directory.resolve("right"), cable);
      right = serve(directory.resolve("right"), rightHca);
    } catch (RuntimeException e) {
      servers.forEach(UserServer::close);
      throw e;
    }
  }

  private static SoftwareHca plugIn(Path socket, String cable) {
    return TestProfile.plugIn("model:%s?cable=%s".formatted(socket, cable));
  }

  private UserServer serve(Path socket, SoftwareHca hca) {
    try {
      UserServer server = UserServer.start(socket.toString(), hca);
      servers.push(server);
      return server;
    } catch (RuntimeException e) {
      hca.close();
      throw e;
    }
  }

  private static String locator(String socket) {
    return "vfio-user:" + socket;
  }

  /** Opens both, with more parameters as in {@code ?key=value}. */
  Fabric open(String parameters) {
    return Fabric.on(locator(left.path()) + parameters, locator(right.path()) + parameters);
  }

  /** Checks that the devices recorded no violation, and ends them. */
  @Override
  public void close() {
    servers.forEach(UserServer::close);
    assertThat(leftHca.faults()).isEmpty();
    assertThat(rightHca.faults()).isEmpty();
    assertThat(left.dmaFaults()).isEmpty();
    assertThat(right.dmaFaults()).isEmpty();
  }
}
