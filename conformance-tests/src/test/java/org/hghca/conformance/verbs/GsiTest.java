package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import jdk.net.ExtendedSocketOptions;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** The GSI queue pair, between devices and with a socket of the kernel. */
@Needs(Feature.GSI_QUEUE_PAIR)
class GsiTest {
  private static final int MAD = 256;
  private static final int HEADER = GlobalRouteHeader.LENGTH;
  private static final int RECEIVE = 1024;
  private static final int QKEY = 0x8001_0000;

  /** The header of a connection request: base version 1, class 7 version 2, attribute 10h. */
  private static final String REQUEST = "0107020300000000 0000000a11223344 0010000000000000";

  /** A context with its queue pair 1. */
  private static final class Services implements AutoCloseable {
    private final Context context;
    private final ProtectionDomain pd;
    private final CompletionQueue completions;
    private final MemoryRegion buffer;
    private final SendRequest send = new SendRequest();
    private final QueuePair qp;

    Services(Context context) {
      this.context = context;
      this.pd = context.allocateProtectionDomain();
      this.completions = context.createCompletionQueue(CompletionQueueConfig.of(16));
      this.buffer = pd.allocate(4096, AccessFlag.LOCAL_WRITE);
      this.qp = pd.createQueuePair(config());
      qp.activate(QueuePair.GSI_QKEY);
    }

    private QueuePairConfig config() {
      return QueuePairConfig.gsi(completions, completions).sendDepth(4).receiveDepth(4);
    }

    void postReceive() {
      qp.postReceive(new ReceiveRequest().wrId(2).into(buffer, RECEIVE, HEADER + MAD));
    }

    void send(AddressHandle to, int length) {
      qp.postSend(
          send.wrId(1)
              .send()
              .to(to, QueuePair.GSI_NUMBER, QueuePair.GSI_QKEY)
              .sge(buffer, 0, length)
              .signaled());
    }

    byte[] received() {
      return buffer.segment().asSlice(RECEIVE + HEADER, MAD).toArray(ValueLayout.JAVA_BYTE);
    }

    byte[] sent() {
      return buffer.segment().asSlice(0, MAD).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
      qp.close();
      buffer.close();
      completions.close();
      pd.close();
    }
  }

  private static void next(Fabric fabric, Services at, Completions into) {
    fabric.await(() -> at.completions.poll(into) == 1, () -> "no completion has come");
  }

  private static Gid ipv4(Context context) {
    return context.queryGidTable().stream()
        .map(entry -> entry.gid())
        .filter(gid -> gid.ipv4().isPresent())
        .findFirst()
        .orElseThrow();
  }

  private static int indexOf(Context context, Gid gid) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().equals(gid))
        .findFirst()
        .orElseThrow()
        .index();
  }

  private static void fill(MemoryRegion buffer) {
    byte[] bytes = new byte[MAD];
    new SplittableRandom(11).nextBytes(bytes);
    byte[] header = HexFormat.of().parseHex(REQUEST.replace(" ", ""));
    System.arraycopy(header, 0, bytes, 0, header.length);
    buffer.segment().asSlice(0, MAD).copyFrom(MemorySegment.ofArray(bytes));
  }

  @Test
  @VerbsCase(says = "queue pair 1 of two ports exchange MADs, with Q_Key 0x80010000")
  void twoPortsExchangeManagementDatagrams() {
    try (Fabric fabric = Fabric.inline();
        Services left = new Services(fabric.left());
        Services right = new Services(fabric.right())) {
      assertThat(left.qp.number()).isEqualTo(1);
      assertThat(left.qp.type()).isEqualTo(QpType.UD);
      assertThat(left.qp.query().qkey()).isEqualTo(QKEY);
      assertThat(left.context.queryDevice().support(DeviceFeature.GSI_QUEUE_PAIR))
          .isEqualTo(FeatureSupport.NATIVE);
      Gid there = ipv4(right.context);
      Gid here = ipv4(left.context);
      left.context.addNeighbor(there, right.context.queryGid(1, 0).mac().orElseThrow());
      right.context.addNeighbor(here, left.context.queryGid(1, 0).mac().orElseThrow());
      fill(left.buffer);
      right.postReceive();
      left.postReceive();
      Completions found = new Completions(1);
      try (AddressHandle to =
          left.pd.createAddressHandle(AddressVector.to(there, indexOf(left.context, here)))) {
        left.send(to, MAD);
        next(fabric, left, found);
        assertThat(found.status(0)).isEqualTo(WcStatus.SUCCESS);
      }
      next(fabric, right, found);
      assertThat(found.status(0)).isEqualTo(WcStatus.SUCCESS);
      assertThat(found.sourceQp(0)).isEqualTo(1);
      assertThat(found.byteLength(0)).isEqualTo(HEADER + MAD);
      assertThat(found.flags(0) & Completions.GRH).isNotZero();
      assertThat(right.received()).isEqualTo(left.sent());
      try (AddressHandle back =
          right.pd.createAddressHandle(
              found, 0, right.buffer.segment().asSlice(RECEIVE, HEADER), 1)) {
        assertThat(back.vector().destination()).isEqualTo(here);
        assertThat(back.vector().sourceGidIndex()).isEqualTo(indexOf(right.context, there));
        right.send(back, MAD);
        next(fabric, right, found);
      }
      next(fabric, left, found);
      assertThat(found.sourceQp(0)).isEqualTo(1);
      assertThat(left.received()).isEqualTo(right.sent());
    }
  }

  @Test
  @VerbsCase(says = "a second queue pair 1 of a port is EBUSY")
  void portHasOneOwnerOfItsGsiQueuePair() {
    try (Fabric fabric = Fabric.oneDevice()) {
      for (int round = 0; round < 2; round++) {
        try (Services first = new Services(fabric.left())) {
          assertErrno(
              Errno.EBUSY, () -> first.pd.createQueuePair(first.config()), "each port has one");
          assertErrno(Errno.EBUSY, () -> leak(fabric.right()), "each port has one");
        }
      }
    }
  }

  /** Tries from another context, and closes the objects created before the failure. */
  private static void leak(Context context) {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueConfig.of(4))) {
      pd.createQueuePair(QueuePairConfig.gsi(queue, queue)).close();
    }
  }

  @Test
  @VerbsCase(says = "its Q_Key cannot change, and it attaches to no group")
  void qkeyIsFixedAndTheQueuePairJoinsNoGroup() {
    try (Fabric fabric = Fabric.inline();
        Services services = new Services(fabric.left())) {
      QpAttributes other = new QpAttributes().qkey(QKEY + 1);
      assertErrno(Errno.EINVAL, () -> services.qp.modify(other), "whose Q_Key is 0x80010000");
      services.qp.modify(QpAttributes.to(QpState.RESET));
      assertErrno(Errno.EINVAL, () -> services.qp.activate(5), "whose Q_Key is 0x80010000");
      services.qp.modify(QpAttributes.to(QpState.RESET));
      services.qp.activate(QKEY);
      assertErrno(
          TestProfile.pick(Feature.MULTICAST, Errno.EINVAL, Errno.EOPNOTSUPP),
          () -> services.qp.attachMulticast(Gid.ofIpv4(0xef01_0203)),
          TestProfile.pick(Feature.MULTICAST, "of the general services: only UD", "multicast"));
    }
  }

  @Test
  @VerbsCase(says = "a datagram of more than 256 bytes: LOC_LEN_ERR, and SQE")
  void longerDatagramIsRefused() {
    try (Fabric fabric = Fabric.inline();
        Services services = new Services(fabric.left())) {
      Gid own = services.context.queryGid(1, 0);
      Completions found = new Completions(1);
      try (AddressHandle to = services.pd.createAddressHandle(AddressVector.to(own, 0))) {
        services.send(to, MAD + 1);
        next(fabric, services, found);
      }
      assertThat(found.status(0)).isEqualTo(WcStatus.LOC_LEN_ERR);
      assertThat(services.qp.query().state()).isEqualTo(QpState.SQE);
    }
  }

  /** A program's queue pair cannot send the Q_Key, whose highest bit selects its own. */
  @Test
  @VerbsCase(says = "an ordinary Q_Key does not reach it")
  void ordinaryQueuePairDoesNotReachIt() {
    try (RcPair pair = new RcSetup().type(QpType.UD).open();
        Services services = new Services(pair.right.context)) {
      services.postReceive();
      Gid gid = pair.right.context.queryGid(1, 0);
      for (int qkey : new int[] {QKEY, 0x1111_1111, 0}) {
        try (AddressHandle to = pair.left.pd.createAddressHandle(AddressVector.to(gid, 0))) {
          pair.left.qp.postSend(
              pair.left.send.send().to(to, 1, qkey).sge(pair.left.buffer, 0, MAD).signaled());
          Side.assertSuccess(pair.left.sent());
        }
      }
      pair.fabric.settle();
      assertThat(services.completions.poll(new Completions(1))).isZero();
    }
  }

  @OnlyOn(
      value = {"s", "r1", "r2"},
      why = "a virtio device has one")
  @Test
  void cardOfTheDocumentHasNone() {
    try (Fabric fabric = Fabric.inline("&as=s")) {
      assertThat(fabric.left().queryDevice().support(DeviceFeature.GSI_QUEUE_PAIR))
          .isEqualTo(FeatureSupport.MISSING);
      assertErrno(Errno.EOPNOTSUPP, () -> leak(fabric.left()), "only a software HCA");
    }
  }

  /** The socket uses only the addresses from this library: the test frames its packets. */
  @Test
  void onTheWireItIsQueuePairOneWithTheGsiQkey() throws IOException {
    TestProfile.requireModel();
    InetSocketAddress device = new InetSocketAddress("127.0.6.19", 4791);
    InetSocketAddress peer = new InetSocketAddress("127.0.6.20", 4791);
    try (DatagramChannel socket = DatagramChannel.open();
        Context context = RdmaDevices.open("model:gsi-wire?net=udp:127.0.6.19&sports=0");
        Services services = new Services(context)) {
      socket.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
      socket.bind(peer);
      fill(services.buffer);
      try (AddressHandle to =
          services.pd.createAddressHandle(AddressVector.to(Gid.ofIpv4(0x7f00_0614), 0))) {
        services.send(to, MAD);
      }
      ByteBuffer packet = ByteBuffer.allocate(2000);
      assertThat(socket.receive(packet)).isEqualTo(device);
      packet.flip();
      assertThat(packet.remaining()).isEqualTo(12 + 8 + MAD + 4);
      byte[] bytes = packet.array();
      assertThat(bytes[0]).as("SEND_ONLY of UD").isEqualTo((byte) 0x64);
      assertThat(packet.getShort(2)).as("P_Key").isEqualTo((short) 0xffff);
      assertThat(packet.getInt(4)).as("destination").isEqualTo(1);
      assertThat(packet.getInt(12)).as("Q_Key").isEqualTo(QKEY);
      assertThat(packet.getInt(16)).as("source").isEqualTo(1);
      assertThat(Arrays.copyOfRange(bytes, 20, 20 + MAD)).isEqualTo(services.sent());
      int crc = packet.order(ByteOrder.LITTLE_ENDIAN).getInt(20 + MAD);
      assertThat(crc).isEqualTo(invariantCrc(0x7f00_0613, 0x7f00_0614, bytes, 20 + MAD));

      services.postReceive();
      bytes[1] = 0x40;
      int own = invariantCrc(0x7f00_0614, 0x7f00_0613, bytes, 20 + MAD);
      packet.putInt(20 + MAD, own).position(0);
      socket.send(packet, device);
      Completions found = new Completions(1);
      awaitReceive(services, found);
      assertThat(found.sourceQp(0)).isEqualTo(1);
      assertThat(services.received()).isEqualTo(services.sent());
    }
  }

  private static void awaitReceive(Services services, Completions found) {
    do {
      while (services.completions.poll(found) == 0) {
        Thread.onSpinWait();
      }
      assertThat(found.status(0)).isEqualTo(WcStatus.SUCCESS);
    } while (found.wrId(0) != 2);
  }

  /** Of a packet from and to port 4791, with identification 0 (RoCE v2, annex A17). */
  private static int invariantCrc(int from, int to, byte[] transport, int length) {
    ByteBuffer head = ByteBuffer.allocate(8 + 20 + 8);
    head.putLong(-1);
    head.putShort((short) 0x45ff).putShort((short) (20 + 8 + length + 4));
    head.putShort((short) 0).putShort((short) 0x4000);
    head.putShort((short) 0xff11).putShort((short) 0xffff).putInt(from).putInt(to);
    head.putShort((short) 4791).putShort((short) 4791);
    head.putShort((short) (8 + length + 4)).putShort((short) 0xffff);
    byte[] masked = transport.clone();
    masked[4] = (byte) 0xff;
    CRC32 crc = new CRC32();
    crc.update(head.array());
    crc.update(masked, 0, length);
    return (int) crc.getValue();
  }
}
