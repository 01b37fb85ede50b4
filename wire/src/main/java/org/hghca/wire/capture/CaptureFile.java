package org.hghca.wire.capture;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PortTap;
import org.hghca.wire.frame.EthernetEncoder;

/**
 * Writes the packets that a port sends and receives to a pcapng file or channel, as RoCE v2 frames
 * with the time in nanoseconds and the direction, and plain frames as they are. A damaged packet
 * has a wrong invariant CRC there, a damaged frame a wrong last byte, and a packet without IP
 * addresses of one family the link-local ones of its Ethernet addresses.
 *
 * <p>The thread of the port writes to memory, allocates nothing and never waits: packets for which
 * there is no room, because the disk is slow or full, are counted, and so are packets without a
 * frame. A thread of its own writes to the file, at most a fraction of a second later. {@link
 * #close} writes the rest and both counts; nothing may be captured at the same time.
 */
public final class CaptureFile implements PortTap, AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(CaptureFile.class);
  private static final int CAPACITY = 1 << 23;

  /** The longest time for which packets wait in memory, in nanoseconds, if the disk keeps up. */
  private static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(200);

  /** A file must be complete, however long the disk takes. */
  static final long WITHOUT_END = 0;

  /** Milliseconds that the reader of a channel has to take the rest. */
  private static final long READER_PATIENCE = 2_000;

  private final String name;
  private final WritableByteChannel channel;
  private final long patience;
  private final LongSupplier clock;
  private final long started;
  private final CaptureRing ring;
  private final long hasty;
  private final MemorySegment memory;
  private final EthernetEncoder encoder;
  private final Thread writer;
  private volatile boolean asleep;
  private volatile boolean closing;
  private long seen;
  private long dropped;

  /**
   * Starts a file, and its thread.
   *
   * @param name of the file, for the log
   * @param capacity the most bytes that wait for the disk, a power of 2
   * @param patience the milliseconds in which {@link #close} writes the rest, or {@link
   *     #WITHOUT_END}
   */
  CaptureFile(
      String name,
      WritableByteChannel channel,
      ByteBuffer head,
      LongSupplier clock,
      int capacity,
      long patience)
      throws IOException {
    this.name = name;
    this.channel = channel;
    this.patience = patience;
    this.clock = clock;
    this.started = clock.getAsLong();
    this.ring = new CaptureRing(capacity, PcapngBlocks.MAX_PACKET);
    this.hasty = capacity / 8;
    this.memory = ring.memory();
    this.encoder = new EthernetEncoder(memory);
    while (head.hasRemaining()) {
      channel.write(head);
    }
    this.writer = Thread.ofPlatform().daemon().name("hghca-capture").start(this::write);
  }

  /**
   * Starts a capture in a {@link PrivateFile}; an existing one is overwritten.
   *
   * @param device the name of the port's device
   * @param mac the address of the port
   * @param clock nanoseconds since 1970, or since a simulation started; called on the port's thread
   * @throws CaptureException when the file cannot be written, saying why
   */
  public static CaptureFile open(Path file, String device, long mac, LongSupplier clock)
      throws CaptureException {
    FileChannel channel = PrivateFile.open(file);
    try {
      ByteBuffer head = PcapngBlocks.head(device, mac);
      return new CaptureFile(file.toString(), channel, head, clock, CAPACITY, WITHOUT_END);
    } catch (IOException e) {
      close(channel, e);
      throw new CaptureException("%s cannot be written: %s".formatted(file, e.getMessage()), e);
    } catch (RuntimeException | Error e) {
      close(channel, e);
      throw e;
    }
  }

  private static void close(FileChannel channel, Throwable cause) {
    try {
      channel.close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /**
   * Begins a capture that goes to a channel.
   *
   * @param channel is closed at the end; one that blocks, on the capture's own thread. {@link
   *     #close} closes it before the end when nobody reads from it for two seconds
   * @param name of the channel, for the log
   * @param device the name of what the port belongs to
   * @param mac the address of the port
   * @param clock nanoseconds since 1970, or since a simulation began; called on the port's thread
   * @throws IOException when the head cannot be written; the channel is the caller's to close then
   */
  public static CaptureFile to(
      WritableByteChannel channel, String name, String device, long mac, LongSupplier clock)
      throws IOException {
    ByteBuffer head = PcapngBlocks.head(device, mac);
    return new CaptureFile(name, channel, head, clock, CAPACITY, READER_PATIENCE);
  }

  @Override
  public void sent(Packet packet) {
    capture(packet, PcapngBlocks.OUTBOUND);
  }

  @Override
  public void received(Packet packet) {
    capture(packet, PcapngBlocks.INBOUND);
  }

  private void capture(Packet packet, int direction) {
    seen++;
    int at = ring.reserve();
    int frame = at + PcapngBlocks.PACKET_HEAD;
    int length = at < 0 ? 0 : encode(packet, frame);
    if (length == 0) {
      dropped++;
      return;
    }
    if (packet.damaged) {
      int last = frame + length - 1; // of the invariant CRC
      memory.set(ValueLayout.JAVA_BYTE, last, (byte) ~memory.get(ValueLayout.JAVA_BYTE, last));
    }
    int block = PcapngBlocks.packet(memory, at, clock.getAsLong(), length, direction);
    if (ring.commit(block) > hasty && asleep) {
      asleep = false;
      LockSupport.unpark(writer);
    }
  }

  private int encode(Packet packet, int at) {
    int length = encoder.encode(packet, at);
    return length > 0 ? length : encodeWithAddressesOfPorts(packet, at);
  }

  /** A packet within a simulation may have no IP addresses: those of its ports replace them. */
  private int encodeWithAddressesOfPorts(Packet packet, int at) {
    long sourceHigh = packet.sourceIpHigh;
    long sourceLow = packet.sourceIpLow;
    long destinationHigh = packet.destinationIpHigh;
    long destinationLow = packet.destinationIpLow;
    packet.sourceIpHigh = IpAddress.LINK_LOCAL_HIGH;
    packet.sourceIpLow = IpAddress.lowOfLinkLocal(packet.sourceMac);
    packet.destinationIpHigh = IpAddress.LINK_LOCAL_HIGH;
    packet.destinationIpLow = IpAddress.lowOfLinkLocal(packet.destinationMac);
    int length = encoder.encode(packet, at);
    packet.sourceIpHigh = sourceHigh;
    packet.sourceIpLow = sourceLow;
    packet.destinationIpHigh = destinationHigh;
    packet.destinationIpLow = destinationLow;
    return length;
  }

  private void write() {
    try (channel) {
      while (!closing) {
        ring.drainTo(channel);
        asleep = true;
        LockSupport.parkNanos(this, PERIOD);
        asleep = false;
      }
      ring.drainTo(channel);
      ByteBuffer end = PcapngBlocks.statistics(started, clock.getAsLong(), seen, dropped);
      while (end.hasRemaining()) {
        channel.write(end);
      }
      if (dropped > 0) {
        LOG.warn(About.NOTHING, "capture {} lacks packets: {} of {}", name, dropped, seen);
      }
    } catch (IOException e) {
      if (patience == WITHOUT_END) {
        LOG.warn(
            About.NOTHING,
            "capture {} ends here, as the file cannot be written: {}",
            name,
            e.getMessage());
      }
      LOG.debug(About.NOTHING, "capture {} has ended", name, e); // a reader may leave at any time
    }
  }

  /** Writes the waiting packets, and waits until they are written. */
  @Override
  public void close() {
    closeAll(List.of(this));
  }

  /**
   * Closes several captures at once: readers who do not read cost the time of one, however many
   * they are.
   */
  public static void closeAll(List<CaptureFile> captures) {
    long since = System.nanoTime();
    captures.forEach(CaptureFile::finish);
    boolean interrupted = false;
    for (CaptureFile capture : captures) {
      interrupted |= capture.awaitEnd(since);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void finish() {
    closing = true;
    LockSupport.unpark(writer);
  }

  /**
   * Waits for the writer.
   *
   * @param since when the reader's patience began, by {@link System#nanoTime}
   * @return whether the calling thread was interrupted meanwhile
   */
  private boolean awaitEnd(long since) {
    boolean interrupted = false;
    while (writer.isAlive()) {
      try {
        writer.join(patience == WITHOUT_END ? 0 : Math.max(1, patience - millisSince(since)));
        if (writer.isAlive()) {
          giveUp();
        }
      } catch (InterruptedException e) {
        interrupted = true; // the file must be complete
      }
    }
    return interrupted;
  }

  private static long millisSince(long start) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  /** Nobody reads from the channel: its end ends the writer's wait. */
  private void giveUp() {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn(About.NOTHING, "capture {} is not closed: {}", name, e.getMessage());
    }
  }
}
