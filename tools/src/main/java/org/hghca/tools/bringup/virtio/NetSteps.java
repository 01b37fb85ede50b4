package org.hghca.tools.bringup.virtio;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.vfio.DmaMapping;
import org.hghca.virtio.NetworkDevice;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetControl;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.net.NetHeader;

/** The network half of a virtio device: its queues, the control queue, a frame. */
public final class NetSteps {
  private static final String START = "net.start";
  private static final String TRANSMIT = "net.transmit";
  private static final String SPECIFICATION = "virtio 1.2, ";
  private static final int FRAME = 60;
  private static final int UNKNOWN_COMMAND = 99;
  private static final int MAC_BYTES = 6;

  /** For experiments within a network: IEEE 802. */
  private static final int ETHER_TYPE = 0x88b5;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final VirtioBoard board;

  public NetSteps(VirtioBoard board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "net.queues",
                "transmit queue and control queue",
                SPECIFICATION + "4.1.5.1.3 (virtqueue configuration)",
                "queue_enable reads 1 after it was written; queue_notify_off stays within its"
                    + " structure",
                this::queues,
                Capability.NEGOTIATION)
            .giving(Capability.VIRTQUEUES),
        Step.of(
                START,
                "DRIVER_OK",
                SPECIFICATION + "3.1.1 (device initialization), 2.1 (device status)",
                "the log of the host: why the device has set NEEDS_RESET",
                this::start,
                Capability.VIRTQUEUES)
            .giving(Capability.STARTED),
        Step.of(
            "net.control",
            "commands of the control queue",
            SPECIFICATION + "5.1.6.5 (control virtqueue)",
            "the used ring of the control queue, and the byte of the result",
            this::control,
            Capability.STARTED),
        Step.of(
                TRANSMIT,
                "a frame is taken",
                SPECIFICATION + "5.1.6.2 (packet transmission), 2.7 (split virtqueues)",
                "bus mastering, the IOMMU, the notification of the transmit queue",
                this::transmit,
                Capability.STARTED)
            .giving(Capability.TRANSMIT),
        Step.of(
            "net.queue-reset",
            "a queue is reset alone",
            SPECIFICATION + "2.6.1 (virtqueue reset)",
            "queue_reset reads 0 when the reset has ended",
            this::resetQueue,
            Capability.TRANSMIT));
  }

  private void queues(Observation o) {
    o.expect("both are enabled");
    board.setUpQueues();
    o.saw("transmit queue: %d entries".formatted(board.transmit().size()));
    o.saw("control queue: %s".formatted(board.device().has(NetFeature.CTRL_VQ) ? "yes" : "none"));
  }

  private void start(Observation o) {
    o.expect("DRIVER_OK, and no NEEDS_RESET");
    board.device().start();
    o.saw("status %s".formatted(DeviceStatus.describe(board.device().status())));
  }

  private void control(Observation o) {
    o.expect("an unknown command is refused; receive modes are accepted, if they are offered");
    boolean unknown =
        board.control().execute(NetControl.CLASS_RX, UNKNOWN_COMMAND, onOff(0), NOTHING);
    o.saw("command %d: %s".formatted(UNKNOWN_COMMAND, result(unknown)));
    o.check(!unknown, "an unknown command is answered with OK");
    if (board.device().has(NetFeature.CTRL_RX)) {
      for (int on : new int[] {1, 0}) {
        boolean done =
            board
                .control()
                .execute(NetControl.CLASS_RX, NetControl.RX_PROMISCUOUS, onOff(on), NOTHING);
        o.saw("every frame %s: %s".formatted(on == 1 ? "on" : "off", result(done)));
        o.check(done, "the receive mode is refused");
      }
    }
    board.device().check();
  }

  private static String result(boolean done) {
    return done ? "OK" : "refused";
  }

  private static MemorySegment onOff(int on) {
    return MemorySegment.ofArray(new byte[] {(byte) on});
  }

  private void transmit(Observation o) {
    o.expect("the buffer comes back within %s".formatted(board.options().limit()));
    send(o);
    o.saw("%d bytes to the device's own address, Ethernet type 88b5h".formatted(FRAME));
  }

  /** A frame to nobody else. */
  private void send(Observation o) {
    long own = NetworkDevice.of(board.device()).mac().orElse(0);
    Virtqueue queue = board.transmit();
    try (DmaMapping memory = board.function().allocate(DmaMapping.PAGE_SIZE)) {
      MemorySegment frame = memory.segment().asSlice(NetHeader.SIZE);
      for (int i = 0; i < MAC_BYTES; i++) {
        byte part = (byte) (own >>> 8 * (MAC_BYTES - 1 - i));
        frame.set(JAVA_BYTE, i, part);
        frame.set(JAVA_BYTE, MAC_BYTES + i, part);
      }
      frame.set(JAVA_BYTE, 2 * MAC_BYTES, (byte) (ETHER_TYPE >>> 8));
      frame.set(JAVA_BYTE, 2 * MAC_BYTES + 1, (byte) ETHER_TYPE);
      queue.put(memory.iova(0), NetHeader.SIZE + FRAME, false);
      int chain = queue.submit();
      boolean _ = queue.kick();
      boolean back = comesBack(queue, chain);
      if (!back) {
        board.detach(); // before the memory goes
      }
      o.check(back, "the frame was not taken within %s".formatted(board.options().limit()));
    }
    board.device().check();
  }

  private boolean comesBack(Virtqueue queue, int chain) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < board.options().limit().toNanos()) {
      int used = queue.poll();
      if (used != Virtqueue.NONE) {
        return used == chain;
      }
      Thread.yield();
    }
    return false;
  }

  private void resetQueue(Observation o) {
    if (!board.device().has(Feature.RING_RESET)) {
      throw Observation.skip("the device does not offer VIRTIO_F_RING_RESET");
    }
    o.expect("the transmit queue begins anew, and takes a frame");
    board.device().reset(board.transmit(), CommonConfig.NO_VECTOR);
    send(o);
    o.saw("it does");
  }
}
