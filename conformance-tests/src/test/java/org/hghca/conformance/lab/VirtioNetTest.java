package org.hghca.conformance.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.PciIds;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.net.NetFeature;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The virtio transport on a device that nobody here wrote: QEMU's {@code virtio-net-pci} with
 * {@code disable-legacy=on,iommu_platform=on} and MAC 52:54:00:76:6e:01, which the system property
 * {@code hghca.lab.virtio} names. Its network is QEMU's own, in which 10.0.2.2 answers.
 */
@EnabledIfSystemProperty(named = "hghca.lab.virtio", matches = ".+")
class VirtioNetTest {
  private static final String LOCATOR = System.getProperty("hghca.lab.virtio", "");
  private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

  private static final int CLASS_RX = 0;
  private static final int PROMISCUOUS = 0;

  private static final String BROADCAST = "ffffffffffff";
  private static final String GUEST = "0a00020f";
  private static final String HOST = "0a000202";
  private static final String HOST_MAC = "52550a000202";

  private PciFunction function;

  @BeforeEach
  void open() {
    function = PciFunctions.open(Locator.parse(LOCATOR));
  }

  @AfterEach
  void close() {
    function.close();
  }

  @Test
  void deviceIsRecognizedByItsIdsAndOffersWhatQemuDocuments(TestReporter reporter) {
    assertThat(VirtioDevice.isDevice(function.configuration(), PciIds.NETWORK_TYPE)).isTrue();
    try (VirtioDevice device = VirtioDevice.attach(function, PciIds.NETWORK_TYPE)) {
      reporter.publishEntry("features of virtio-net-pci", "0x%x".formatted(device.offered()));
      for (int bit :
          new int[] {
            Feature.VERSION_1,
            Feature.ACCESS_PLATFORM,
            Feature.EVENT_IDX,
            NetFeature.MAC,
            NetFeature.STATUS,
            NetFeature.CTRL_VQ,
            NetFeature.CTRL_RX
          }) {
        assertThat(device.offered() & Feature.mask(bit)).as(NetFeature.name(bit)).isNotZero();
      }
      assertThat(device.queues()).isGreaterThanOrEqualTo(3);
      assertThat(device.status()).isEqualTo(DeviceStatus.ACKNOWLEDGE | DeviceStatus.DRIVER);
    }
  }

  @Test
  void configurationHasTheMacAndTheLink() {
    try (PlainNet net = new PlainNet(function)) {
      assertThat(net.mac()).containsExactly(0x52, 0x54, 0x00, 0x76, 0x6e, 0x01);
      assertThat(net.device().<Long>configuration(fields -> fields.get(NetConfig.STATUS)))
          .isEqualTo(1L);
      assertThat(net.device().status()).isEqualTo(0x0f);
    }
  }

  @Test
  void queueNumbersAndVectorsThatTheDeviceLacksAreRefused() {
    try (VirtioDevice device = VirtioDevice.attach(function, PciIds.NETWORK_TYPE)) {
      device.negotiate(Feature.mask(NetFeature.CTRL_VQ), 0);
      assertThatThrownBy(() -> device.queue(device.queues(), 16, CommonConfig.NO_VECTOR))
          .isInstanceOf(VirtioException.class)
          .hasMessageContaining("has no queue");
      assertThatThrownBy(() -> device.queue(0, 16, function.interrupts().vectors()))
          .isInstanceOf(VirtioException.class)
          .hasMessageContaining("interrupt vectors");
      assertThat(device.queue(0, 1024, 1).size()).isEqualTo(256);
      assertThat(device.queue(2, 1024, CommonConfig.NO_VECTOR).size()).isEqualTo(64);
    }
  }

  @Test
  void controlQueueAcceptsAndRefuses() {
    try (PlainNet net = new PlainNet(function)) {
      for (int on = 1; on >= 0; on--) {
        MemorySegment data = MemorySegment.ofArray(new byte[] {(byte) on});
        assertThat(net.control().execute(CLASS_RX, PROMISCUOUS, data, EMPTY)).isTrue();
      }
      assertThat(net.control().execute(99, 0, EMPTY, EMPTY)).as("unknown class").isFalse();
      assertThat(net.control().execute(CLASS_RX, 99, EMPTY, EMPTY)).as("unknown command").isFalse();
      // The class of RoCE, of which this device knows nothing.
      assertThat(net.control().execute(6, 17, EMPTY, EMPTY)).as("class 6").isFalse();
      for (int i = 0; i < 200; i++) {
        MemorySegment data = MemorySegment.ofArray(new byte[] {(byte) (i & 1)});
        assertThat(net.control().execute(CLASS_RX, PROMISCUOUS, data, EMPTY)).isTrue();
      }
    }
  }

  @Test
  void hostAnswersArpAndPing(TestReporter reporter) {
    try (PlainNet net = new PlainNet(function)) {
      assertThat(resolve(net)).isEqualTo(HOST_MAC);
      long start = System.nanoTime();
      int pings = 300; // more than a queue has entries
      for (int i = 0; i < pings; i++) {
        ping(net, i, 10 + 4 * i);
      }
      reporter.publishEntry(
          "ping by interrupt",
          "%d us, %d notifications for %d frames"
              .formatted((System.nanoTime() - start) / pings / 1000, net.kicks(), pings + 1));
    }
  }

  @Test
  void deviceIsResetAndUsedAgain() {
    for (int round = 0; round < 3; round++) {
      try (PlainNet net = new PlainNet(function)) {
        assertThat(resolve(net)).isEqualTo(HOST_MAC);
        ping(net, round, 1400);
      }
      assertThat(function.region(4).readByte(CommonConfig.DEVICE_STATUS.offset())).isZero();
    }
  }

  @Test
  void functionIsClosedAndOpenedAgain() {
    try (PlainNet net = new PlainNet(function)) {
      assertThat(resolve(net)).isEqualTo(HOST_MAC);
    }
    function.close();
    open();
    try (PlainNet net = new PlainNet(function)) {
      assertThat(resolve(net)).isEqualTo(HOST_MAC);
    }
  }

  /** Asks for the MAC of the host. */
  private static String resolve(PlainNet net) {
    String mac = hex(net.mac());
    // Ethernet type 0806h; hardware 1, protocol 0800h, lengths 6 and 4, operation 1: request.
    net.send(
        bytes(BROADCAST + mac + "0806" + "0001080006040001" + mac + GUEST + "000000000000" + HOST));
    byte[] reply = net.receive(frame -> hex(frame).startsWith("0806" + "0001080006040002", 24));
    String text = hex(reply);
    assertThat(text).startsWith(mac);
    assertThat(text.substring(56, 64)).as("address of the sender").isEqualTo(HOST);
    return text.substring(44, 56);
  }

  /** Has the host echo data, and compares it. */
  private static void ping(PlainNet net, int sequence, int length) {
    byte[] data = new byte[length];
    for (int i = 0; i < length; i++) {
      data[i] = (byte) (sequence + i);
    }
    ByteBuffer echo = ByteBuffer.allocate(8 + length);
    echo.put(0, (byte) 8).putShort(4, (short) 0x7669).putShort(6, (short) sequence).put(8, data);
    echo.putShort(2, checksum(echo));
    ByteBuffer ip = ByteBuffer.allocate(20);
    ip.putShort(0, (short) 0x4500).putShort(2, (short) (28 + length)).putShort(8, (short) 0x4001);
    ip.put(12, bytes(GUEST)).put(16, bytes(HOST));
    ip.putShort(10, checksum(ip));
    net.send(bytes(HOST_MAC + hex(net.mac()) + "0800" + hex(ip.array()) + hex(echo.array())));
    // Type and code 0: a reply, with our identifier and number.
    String identity = "7669%04x".formatted(sequence);
    byte[] reply =
        net.receive(
            frame -> {
              String text = hex(frame);
              return text.startsWith("0800", 24)
                  && text.startsWith("01", 46)
                  && text.startsWith("0000", 68)
                  && text.startsWith(identity, 76);
            });
    assertThat(hex(reply).substring(84, 84 + 2 * length)).isEqualTo(hex(data));
  }

  /** The checksum of the Internet protocols. */
  private static short checksum(ByteBuffer buffer) {
    int sum = 0;
    for (int at = 0; at < buffer.capacity(); at += 2) {
      int low = at + 1 < buffer.capacity() ? buffer.get(at + 1) & 0xff : 0;
      sum += (buffer.get(at) & 0xff) << 8 | low;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return (short) ~(sum + (sum >>> 16));
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }
}
