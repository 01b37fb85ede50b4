package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.BindException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.sockets.MemoryDevice.Network;
import org.hghca.sockets.policy.Place;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.policy.SocketPolicy.Route;
import org.hghca.sockets.policy.SocketSettings;
import org.junit.jupiter.api.Test;

class SocketPolicyTest {
  private static final String NETWORKS = SocketSettings.NETWORKS;

  private final Network network = new Network();
  private final MemoryDevice near = network.device("10.0.0.1", "fd00::1");
  private final MemoryDevice far = network.device("10.1.0.1");

  @Test
  void aPeerInANetworkIsReachedByTheDeviceWhoseAddressIsNearest() throws SocketException {
    SocketPolicy policy = Sockets.policy(List.of(near, far), NETWORKS, "10.0.0.0/8,fd00::/8");

    assertThat(policy.route(address("10.0.0.9"))).contains(route(near, "10.0.0.1", "10.0.0.9"));
    assertThat(policy.route(address("10.1.7.9"))).contains(route(far, "10.1.0.1", "10.1.7.9"));
    assertThat(policy.route(address("fd00::9"))).contains(route(near, "fd00::1", "fd00::9"));
  }

  @Test
  void whatIsInNoNetworkIsThePlatformsAndOpensNothing() throws SocketException {
    List<String> opened = new ArrayList<>();
    SocketPolicy policy =
        new SocketPolicy(
            SocketSettings.read(Map.of(NETWORKS, "10.0.0.0/8", SocketSettings.DEVICES, "a")::get),
            name -> {
              opened.add(name);
              return near;
            });

    assertThat(policy.route(address("192.0.2.1"))).isEmpty();
    assertThat(policy.places(address("127.0.0.1"))).isEmpty();
    assertThat(opened).isEmpty();
    policy.route(address("10.0.0.9"));
    policy.route(address("10.0.0.8"));
    assertThat(opened).containsExactly("a");
  }

  @Test
  void addressesOfThisHostLeadToTheOwnDeviceWhereTheNetworksHaveThem() throws SocketException {
    SocketPolicy policy = Sockets.policy(List.of(near), NETWORKS, "10.0.0.0/8,127.0.0.0/8,::1");

    assertThat(policy.route(address("127.0.0.1"))).contains(route(near, "10.0.0.1", "10.0.0.1"));
    assertThat(policy.route(address("10.0.0.1"))).contains(route(near, "10.0.0.1", "10.0.0.1"));
    assertThat(policy.route(address("0.0.0.0"))).contains(route(near, "10.0.0.1", "10.0.0.1"));
    assertThat(policy.route(address("::1"))).contains(route(near, "fd00::1", "fd00::1"));
    assertThat(policy.places(address("127.0.0.1")))
        .containsExactly(new Place(near, address("10.0.0.1")));
  }

  @Test
  void loopbackAddressesAreOtherProcessesWhereADeviceHasOne() throws SocketException {
    MemoryDevice loopback = network.device("127.0.0.2");
    SocketPolicy policy = Sockets.policy(List.of(loopback), NETWORKS, "127.0.0.0/8");

    assertThat(policy.route(address("127.0.0.1")))
        .contains(route(loopback, "127.0.0.2", "127.0.0.1"));
    assertThatThrownBy(() -> policy.places(address("127.0.0.1")))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("127.0.0.1");
  }

  @Test
  void theWildcardIsEachDevicesAddressInTheNetworks() throws SocketException {
    MemoryDevice outside = network.device("192.0.2.1");
    SocketPolicy policy = Sockets.policy(List.of(near, outside, far));

    assertThat(policy.places(address("0.0.0.0")))
        .containsExactly(new Place(near, address("10.0.0.1")), new Place(far, address("10.1.0.1")));
  }

  @Test
  void anAddressOfANetworkThatNoDeviceHasCannotBeBound() throws SocketException {
    SocketPolicy policy = Sockets.policy(List.of(near));

    assertThatThrownBy(() -> policy.places(address("10.0.0.7")))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("Cannot assign requested address")
        .hasMessageContaining("10.0.0.7")
        .hasMessageContaining(SocketSettings.DEVICES);
  }

  @Test
  void aNetworkOfAFamilyThatNoDeviceHasIsNamed() throws SocketException {
    SocketPolicy policy = Sockets.policy(List.of(far), NETWORKS, "fd00::/8");

    assertThatThrownBy(() -> policy.route(address("fd00::9")))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("fd00:0:0:0:0:0:0:9")
        .hasMessageContaining(SocketSettings.DEVICES)
        .hasMessageContaining(NETWORKS);
  }

  @Test
  void twoDevicesOfOneAddressAreRefused() throws SocketException {
    MemoryDevice other = new Network().device("10.0.0.1");
    SocketPolicy policy = Sockets.policy(List.of(near, other));

    assertThatThrownBy(() -> policy.route(address("10.0.0.9")))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("10.0.0.1")
        .hasMessageContaining(SocketSettings.DEVICES)
        .hasMessageContaining("ip=");
  }

  @Test
  void aDeviceThatCannotBeOpenedIsNamedWithItsPropertyAndTriedAgain() throws SocketException {
    List<String> opened = new ArrayList<>();
    SocketPolicy policy =
        new SocketPolicy(
            SocketSettings.read(name -> name.equals(SocketSettings.DEVICES) ? "model:x" : null),
            name -> {
              opened.add(name);
              if (opened.size() == 1) {
                throw new IllegalStateException("it is busy");
              }
              return near;
            });

    assertThatThrownBy(() -> policy.route(address("10.0.0.9")))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining(SocketSettings.DEVICES)
        .hasMessageContaining("model:x")
        .hasMessageContaining("it is busy");
    assertThat(policy.route(address("10.0.0.9"))).isPresent();
  }

  @Test
  void closesItsDevicesAndOpensNoneAfterwards() throws SocketException {
    SocketPolicy policy = Sockets.policy(List.of(near));
    policy.route(address("10.0.0.9"));

    policy.close();

    assertThat(near.closed).isTrue();
    assertThatThrownBy(() -> policy.route(address("10.0.0.9"))).isInstanceOf(SocketException.class);
  }

  private static Route route(MemoryDevice device, String local, String remote) {
    return new Route(new Place(device, address(local)), address(remote));
  }

  private static InetAddress address(String text) {
    return InetAddress.ofLiteral(text);
  }
}
