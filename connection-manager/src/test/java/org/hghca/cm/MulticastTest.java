package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Completions;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Data over groups that identifiers have joined. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class MulticastTest {
  private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");
  private static final int BYTES = 64;
  private static final int SLOT = GlobalRouteHeader.LENGTH + BYTES;
  private static final int RECEIVES = 4;

  private final TwoDevices it;
  private final List<MemoryRegion> regions = new ArrayList<>();

  MulticastTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    regions.forEach(MemoryRegion::close);
    it.close();
  }

  /** An identifier with a queue pair that has receives. */
  private CmId member(TwoDevices.Device device, String address) {
    CmId id = device.id(PortSpace.UDP);
    id.carrier(it.kind);
    id.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
    QueuePair pair =
        id.createQueuePair(device.pd, device.config(PortSpace.UDP).receiveDepth(RECEIVES));
    MemoryRegion region = device.pd.allocate(RECEIVES * SLOT, AccessFlag.LOCAL_WRITE);
    regions.add(region);
    for (int i = 0; i < RECEIVES; i++) {
      pair.postReceive(new ReceiveRequest().wrId(i).into(region, (long) i * SLOT, SLOT));
    }
    return id;
  }

  private static DatagramParameters join(TwoDevices.Device device, CmId id)
      throws InterruptedException {
    id.joinMulticast(GROUP);
    return device.take(CmEventType.MULTICAST_JOIN).datagram().orElseThrow();
  }

  private void send(CmId from, DatagramParameters to, String text) {
    QueuePair pair = from.queuePair().orElseThrow();
    try (AddressHandle handle = it.client.pd.createAddressHandle(to.vector());
        MemoryRegion region = it.client.pd.allocate(BYTES, AccessFlag.LOCAL_WRITE)) {
      region.segment().setString(0, text);
      pair.postSend(
          new SendRequest()
              .send()
              .to(handle, to.qpNumber(), to.qkey())
              .sge(region, 0, BYTES)
              .signaled());
      assertThat(next(it.client).opcode(0)).isEqualTo(WcOpcode.SEND);
    }
  }

  private static Completions next(TwoDevices.Device device) {
    Completions one = new Completions(1);
    while (device.cq.poll(one) == 0) {
      Thread.onSpinWait();
    }
    assertThat(one.isSuccess(0)).as(one.describe(0)).isTrue();
    return one;
  }

  /** The queue pair of the next message, and its text. */
  private String received(CmId... members) {
    Completions one = next(it.server);
    for (int i = 0; i < members.length; i++) {
      if (members[i].queuePair().orElseThrow().number() == one.qpNumber(0)) {
        long at = one.wrId(0) * SLOT + GlobalRouteHeader.LENGTH;
        return i + " " + regions.get(i + 1).segment().getString(at);
      }
    }
    throw new AssertionError(one.describe(0));
  }

  /**
   * A cable keeps the order of messages and queue pairs take them at once: what a member gets after
   * one that it had to miss shows that it missed it.
   */
  @Test
  void membersGetEachMessageUntilTheyLeave() throws Exception {
    CmId sender = member(it.client, "10.0.0.1");
    CmId one = member(it.server, "10.0.0.2");
    CmId other = member(it.server, "10.0.0.2");
    DatagramParameters to = join(it.client, sender);
    join(it.server, one);
    sender.leaveMulticast(GROUP); // its own copies are not looked at
    send(sender, to, "for one");
    assertThat(received(one, other)).isEqualTo("0 for one");
    join(it.server, other);
    send(sender, to, "for both");
    assertThat(List.of(received(one, other), received(one, other)))
        .containsExactlyInAnyOrder("0 for both", "1 for both");
    one.leaveMulticast(GROUP);
    send(sender, to, "for the other");
    assertThat(received(one, other)).isEqualTo("1 for the other");
    join(it.server, one);
    other.close(); // leaves its groups
    send(sender, to, "for one again");
    assertThat(received(one)).isEqualTo("0 for one again");
    assertThat(it.server.cq.poll(new Completions(1))).isZero();
  }
}
