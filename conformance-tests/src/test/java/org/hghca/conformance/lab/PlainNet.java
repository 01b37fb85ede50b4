package org.hghca.conformance.lab;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Predicate;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.ControlQueue;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.PciIds;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.net.NetHeader;

/** Sends and receives Ethernet frames with a virtio network device, without any offload. */
final class PlainNet implements AutoCloseable {
  /** The interrupt vector of received frames. */
  static final int RECEIVE_VECTOR = 1;

  private static final int RECEIVE = 0;
  private static final int TRANSMIT = 1;
  private static final int CONTROL = 2;

  /** A frame and its header; a divisor of the page size, since only a page is contiguous. */
  private static final int BUFFER = 2048;

  private static final int ENTRIES = 16;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final VirtioDevice device;
  private final Virtqueue receive;
  private final Virtqueue transmit;
  private final ControlQueue control;
  private final DmaMapping received;
  private final DmaMapping sent;
  private final byte[] mac;
  private int kicks;

  PlainNet(PciFunction function) {
    device = VirtioDevice.attach(function, PciIds.NETWORK_TYPE);
    device.negotiate(
        Feature.mask(NetFeature.MAC) | Feature.mask(NetFeature.CTRL_VQ),
        Feature.mask(NetFeature.STATUS) | Feature.mask(NetFeature.CTRL_RX));
    mac = device.configuration(fields -> fields.get(NetConfig.MAC));
    device.configurationVector(0);
    receive = device.queue(RECEIVE, ENTRIES, RECEIVE_VECTOR);
    transmit = device.queue(TRANSMIT, ENTRIES, CommonConfig.NO_VECTOR);
    control = new ControlQueue(device, device.queue(CONTROL, 64, CommonConfig.NO_VECTOR), LIMIT);
    received = device.allocate((long) ENTRIES * BUFFER);
    sent = device.allocate((long) ENTRIES * BUFFER);
    device.start();
    while (receive.free() > 0) {
      offer();
    }
    receive.kick();
  }

  VirtioDevice device() {
    return device;
  }

  ControlQueue control() {
    return control;
  }

  byte[] mac() {
    return mac.clone();
  }

  /** How often the device was notified of frames to send. */
  int kicks() {
    return kicks;
  }

  private void offer() {
    receive.put(received.iova((long) receive.nextId() * BUFFER), BUFFER, true);
    receive.submit();
  }

  /** Hands a frame over; its buffer is free again when the device has used it. */
  void send(byte[] frame) {
    while (transmit.free() == 0 || transmit.poll() != Virtqueue.NONE) {
      device.check();
    }
    long at = (long) transmit.nextId() * BUFFER;
    sent.segment().asSlice(at, NetHeader.SIZE).fill((byte) 0);
    MemorySegment.copy(
        frame, 0, sent.segment(), ValueLayout.JAVA_BYTE, at + NetHeader.SIZE, frame.length);
    transmit.put(sent.iova(at), NetHeader.SIZE + frame.length, false);
    transmit.submit();
    if (transmit.kick()) {
      kicks++;
    }
  }

  /** Waits by interrupt for a frame that satisfies a condition, and drops all before it. */
  byte[] receive(Predicate<byte[]> wanted) {
    Interrupts interrupts = device.function().interrupts();
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      int id = receive.poll();
      if (id != Virtqueue.NONE) {
        byte[] frame = take(id);
        if (wanted.test(frame)) {
          return frame;
        }
      } else if (receive.arm()) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError("no such frame within " + LIMIT);
        }
        interrupts.await(left);
      }
    }
  }

  private byte[] take(int id) {
    long at = (long) id * BUFFER;
    if (receive.length() < NetHeader.SIZE) {
      throw new AssertionError("a frame of %d bytes".formatted(receive.length()));
    }
    byte[] all = received.segment().asSlice(at, receive.length()).toArray(ValueLayout.JAVA_BYTE);
    offer();
    receive.kick();
    return Arrays.copyOfRange(all, NetHeader.SIZE, all.length);
  }

  @Override
  public void close() {
    device.close();
  }
}
