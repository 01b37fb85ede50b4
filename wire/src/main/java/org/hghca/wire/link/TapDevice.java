package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.FrameLayout;
import org.hghca.wire.link.LinkException.Reason;

/**
 * A TAP device: an interface of the kernel whose frames come from and go to this link. A missing
 * one is created, and disappears with the link. Needs CAP_NET_ADMIN, or an interface that was
 * created for the user.
 */
final class TapDevice implements FrameCarrier {
  private static final ConditionLog LOG = ConditionLog.of(TapDevice.class);

  private static final String PATH = "/dev/net/tun";
  private static final int READ_WRITE_NONBLOCK_CLOSE_ON_EXEC = 2 | 0x800 | 0x80000;

  private static final int TUNSETIFF = 0x400454ca;
  private static final int REQUEST = 40;
  private static final int LONGEST_NAME = 15;
  private static final int FLAGS = 16;

  /** IFF_TAP and IFF_NO_PI: frames without a prefix. */
  private static final short WHOLE_FRAMES = 0x2 | 0x1000;

  /** Frames in a row: frames without packets do not block the poller. */
  private static final int MOST_FRAMES = 2 * ReceiveBatch.SIZE;

  private final SystemCalls linux;
  private final String name;
  private final int device;
  private final NetworkInterfaceState state;

  /** Receives one frame at a time; the rest of a longer one is cut off. */
  private final MemorySegment incoming = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME + 64, 8);

  private LinkWatch watch;

  /** The interface was removed: the device answers all calls with an error. */
  private volatile boolean ended;

  /**
   * Opens the device.
   *
   * @throws LinkException with the fix
   */
  TapDevice(SystemCalls linux, String name) {
    this.linux = linux;
    this.name = name;
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0 || bytes.length > LONGEST_NAME || name.contains("%")) {
      throw new LinkException(
          Reason.INVALID,
          "%s: give the name of an interface of 1 to %d bytes, such as tap:tap0"
              .formatted(link(), LONGEST_NAME));
    }
    device = linux.open(PATH, READ_WRITE_NONBLOCK_CLOSE_ON_EXEC);
    checkOpen(device);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(REQUEST, 8); // struct ifreq
      MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, bytes.length);
      request.set(ValueLayout.JAVA_SHORT, FLAGS, WHOLE_FRAMES);
      checkAttach(linux.ioctl(device, TUNSETIFF, request));
      state = new NetworkInterfaceState(linux, link(), name);
    } catch (RuntimeException e) {
      linux.close(device);
      throw e;
    }
  }

  private String link() {
    return "tap:" + name;
  }

  private void checkOpen(int answer) {
    if (LinuxErrno.EACCES.is(answer) || LinuxErrno.EPERM.is(answer)) {
      throw new LinkException(
          Reason.NO_PERMISSION,
          "%s: this user may not open %s: 'chmod 0666 %s' allows it".formatted(link(), PATH, PATH));
    }
    if (LinuxErrno.ENOENT.is(answer) || LinuxErrno.ENODEV.is(answer)) {
      throw new LinkException(
          Reason.SYSTEM, "%s: there is no %s: 'modprobe tun' makes it".formatted(link(), PATH));
    }
    LinuxFailures.check(answer, link(), "open " + PATH);
  }

  private void checkAttach(int answer) {
    if (LinuxErrno.EPERM.is(answer)) {
      throw new LinkException(
          Reason.NO_PERMISSION,
          "%s: this needs CAP_NET_ADMIN, or an interface of this user's: 'ip tuntap add dev %s mode"
                  .formatted(link(), name)
              + " tap user USER' as root makes one");
    }
    if (LinuxErrno.EBUSY.is(answer)) {
      throw new LinkException(
          Reason.BUSY,
          "%s: another process, or another link, has it: end it, or give another name"
              .formatted(link()));
    }
    if (LinuxErrno.EINVAL.is(answer)) {
      throw new LinkException(
          Reason.INVALID,
          "%s: the interface of that name is no TAP device: give another name, 'ip tuntap' shows those"
                  .formatted(link())
              + " that are");
    }
    LinuxFailures.check(answer, link(), "TUNSETIFF");
  }

  @Override
  public String description() {
    return "tap " + name;
  }

  @Override
  public int mtu() {
    return state.mtu();
  }

  @Override
  public boolean isUp() {
    return state.isUp();
  }

  @Override
  public void open(LinkWatch watched) {
    watch = watched;
    watched.add(device, LinkWatch.READABLE);
    state.open(watched);
  }

  /** All frames that the kernel sends arrive here. */
  @Override
  public boolean join(long mac) {
    return true;
  }

  @Override
  public void leave(long mac) {}

  @Override
  public int send(DatagramBatch frames, int from, int count) {
    if (ended) {
      return -LinuxErrno.EIO.number();
    }
    for (int i = 0; i < count; i++) {
      long written =
          linux.write(
              device, frames.frames(), frames.datagram(from + i), frames.completed(from + i));
      if (written < 0) {
        return i > 0 ? i : (int) written;
      }
    }
    return count;
  }

  @Override
  public synchronized void awaitRoom(boolean wanted) {
    if (!ended) {
      watch.change(device, wanted ? LinkWatch.READABLE | LinkWatch.WRITABLE : LinkWatch.READABLE);
    }
  }

  @Override
  public MemorySegment incoming() {
    return incoming;
  }

  @Override
  public void receive(EthernetEnd end, ReceiveBatch batch) {
    if (ended) {
      state.refresh();
      return;
    }
    for (int i = 0; i < MOST_FRAMES && !batch.isFull(); i++) {
      long length = linux.read(device, incoming);
      if (length < 0) {
        if (!LinuxErrno.EAGAIN.is(length)) {
          end(length);
        }
        if (i == 0) {
          state.refresh();
        }
        return;
      }
      end.take(0, (int) length, Packet.NO_VLAN, batch);
    }
  }

  /** The interface was removed permanently. */
  private synchronized void end(long answer) {
    ended = true;
    LOG.warn(
        About.NOTHING, "the link {} is down: read answers {}", link(), LinuxErrno.describe(answer));
    watch.remove(device);
  }

  @Override
  public void close() {
    linux.close(device);
    state.close();
  }
}
