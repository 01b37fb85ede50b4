package org.hghca.jgroups;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.hghca.verbs.VerbsException;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.PhysicalAddress;
import org.jgroups.annotations.MBean;
import org.jgroups.annotations.ManagedAttribute;
import org.jgroups.annotations.ManagedOperation;
import org.jgroups.annotations.Property;
import org.jgroups.conf.AttributeType;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.protocols.TP;
import org.jgroups.stack.IpAddress;

/**
 * A transport of JGroups over RDMA, in the place of {@code TCP} in a stack: {@code
 * <org.hghca.jgroups.RDMA device="..." bind_addr="..." bind_port="7800"/>}. {@code rdma.xml} in
 * this jar is such a stack.
 *
 * <p>Members are connected by reliable connections, which are made when there is something to send.
 * A member is known by the address of its device and its port. A send never waits for a connection;
 * for a slow peer it waits {@code send_timeout} at most, once until the peer moves again. What is
 * dropped then, the protocols above send again, as with any transport.
 *
 * <p>Fields of attributes have the attributes' names, by which JGroups finds and shows them.
 */
@MBean(description = "Transport over RDMA: reliable connections between the members")
public class RDMA extends TP {
  /** Until a member that has left is disconnected: what is said last, is on its way. */
  private static final long GRACE_SECONDS = 5;

  @Property(
      description =
          "The RDMA device: a name such as hghca0, or a locator such as model:a?net=shm:lab."
              + " Without it, the only device, or that which has bind_addr",
      systemProperty = "jgroups.rdma.device",
      writable = false)
  private String device = "";

  /**
   * Hides that of the superclass, which JGroups requires to be an address of the machine: that one
   * remains for protocols that have sockets of the machine.
   */
  @SuppressWarnings("HidingField")
  @Property(
      description =
          "The address of the device by which other members know this one; it needs not be one of"
              + " the machine. Without it, the device's own",
      systemProperty = "jgroups.rdma.bind_addr",
      writable = false)
  private InetAddress bind_addr;

  @Property(
      description = "Time in which a connection must be made",
      type = AttributeType.TIME,
      writable = false)
  private int sock_conn_timeout = 2000;

  @Property(
      description =
          "Time for which a sender waits for a slow peer before it drops what it sends. It waits"
              + " once until the peer moves again",
      type = AttributeType.TIME,
      writable = false)
  private int send_timeout = 2000;

  @Property(
      description = "Bytes of a receive buffer. A longer bundle takes several",
      type = AttributeType.BYTES,
      writable = false)
  private int buffer_size = 65_536;

  @Property(
      description = "Receive buffers of each connection",
      type = AttributeType.SCALAR,
      writable = false)
  private int buffers = 16;

  @Property(
      description =
          "Bytes of registered memory of each connection in which bundles wait to be sent",
      type = AttributeType.BYTES,
      writable = false)
  private int send_buf_size = 524_288;

  @Property(
      description = "The most bytes of a bundle; a longer one is an error. FRAG4 keeps them short",
      type = AttributeType.BYTES,
      writable = false)
  private int max_length = 16_777_216;

  private final LongAdder dropped = new LongAdder();
  private final Set<IpAddress> known = new HashSet<>();
  private volatile Hca hca;
  private volatile Peers peers;

  /** Sets the device: a name or a locator. */
  public RDMA device(String nameOrLocator) {
    device = nameOrLocator;
    return this;
  }

  /** Sets the address of the device. */
  public RDMA address(InetAddress address) {
    bind_addr = address;
    return this;
  }

  /** How many members are connected. */
  @ManagedAttribute(
      description = "Members to which there is a connection",
      type = AttributeType.SCALAR)
  public long getOpenConnections() {
    Peers open = peers;
    return open == null ? 0 : open.connected();
  }

  /** How many bundles were dropped. */
  @ManagedAttribute(
      description = "Bundles that were dropped: the peer was slow, or there was no connection",
      type = AttributeType.SCALAR)
  public long getDroppedBundles() {
    return dropped.sum();
  }

  /** The members, one a line. */
  @ManagedOperation(description = "Prints the members that are connected, and their credits")
  public String printConnections() {
    Peers open = peers;
    return open == null ? "" : open.describe();
  }

  @Override
  public void resetStats() {
    super.resetStats();
    dropped.reset();
  }

  @Override
  public boolean supportsMulticasting() {
    return false;
  }

  @Override
  public void start() throws Exception {
    Settings settings =
        new Settings(
            buffer_size,
            buffers,
            send_buf_size,
            max_length,
            Duration.ofMillis(sock_conn_timeout),
            Duration.ofMillis(send_timeout));
    settings.check();
    hca = Hca.open(device, Optional.ofNullable(bind_addr), super.bind_addr);
    try {
      peers = new Peers(hca, ports(), settings, this::receive, log);
      placeWatch();
      super.start();
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /** FD_SOCK2 connects to the addresses of the transport: so it must listen there. */
  private void placeWatch() throws SocketException {
    FD_SOCK2 watch = stack.findProtocol(FD_SOCK2.class);
    if (watch == null) {
      return;
    }
    InetAddress own = hca.address();
    if (!own.isLoopbackAddress() && NetworkInterface.getByInetAddress(own) == null) {
      log.warn(
          "%s is no address of this machine: FD_SOCK2 cannot watch other members; remove it from"
              + " the stack, FD_ALL3 watches them over RDMA",
          own.getHostAddress());
    } else if (watch.getBindAddress() == null) {
      watch.setBindAddress(own);
    }
  }

  private List<Integer> ports() {
    int last = bind_port == 0 ? 0 : bind_port + port_range;
    return IntStream.rangeClosed(bind_port, last).boxed().toList();
  }

  @Override
  public void stop() {
    super.stop();
    close();
  }

  private void close() {
    Peers open = peers;
    Hca opened = hca;
    peers = null;
    hca = null;
    try {
      if (open != null) {
        open.close();
      }
      if (opened != null) {
        opened.close();
      }
    } catch (VerbsException e) {
      log.error("%s: closing the device: %s", local_addr, e.getMessage());
    }
  }

  @Override
  protected void handleConnect() throws Exception {
    peers.accept();
    super.handleConnect();
  }

  @Override
  protected PhysicalAddress getPhysicalAddress() {
    Peers open = peers;
    return open == null ? null : open.address();
  }

  @Override
  public void sendUnicast(PhysicalAddress dest, byte[] data, int offset, int length)
      throws Exception {
    if (length > max_length) {
      throw new IllegalArgumentException(
          "a bundle of %d bytes: RDMA.max_length is %d; put FRAG4 into the stack, or give another max_length"
              .formatted(length, max_length));
    }
    Peers open = peers;
    if (open == null || !open.send((IpAddress) dest, data, offset, length)) {
      dropped.increment();
    }
  }

  @Override
  public Object down(Event event) {
    Object result = super.down(event);
    if (event.getType() == Event.VIEW_CHANGE) {
      leaveOthers();
    }
    return result;
  }

  /** Those that were members, and are none any more, are disconnected, but not at once. */
  private void leaveOthers() {
    Set<IpAddress> present = addresses(members);
    Collection<IpAddress> left = new ArrayList<>();
    synchronized (known) {
      known.stream().filter(before -> !present.contains(before)).forEach(left::add);
      known.clear();
      known.addAll(present);
    }
    if (!left.isEmpty()) {
      var _ = timer.schedule(() -> leave(left), GRACE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private void leave(Collection<IpAddress> left) {
    Peers open = peers;
    Set<IpAddress> present = addresses(members);
    if (open != null) {
      open.leave(left.stream().filter(one -> !present.contains(one)).toList());
    }
  }

  private Set<IpAddress> addresses(Collection<Address> of) {
    Set<IpAddress> found = new HashSet<>();
    for (Address member : of) {
      if (getPhysicalAddressFromCache(member) instanceof IpAddress address) {
        found.add(address);
      }
    }
    return found;
  }
}
