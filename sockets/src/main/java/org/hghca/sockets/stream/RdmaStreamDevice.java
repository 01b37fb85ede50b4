package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.CmId;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;

/** Streams over a device of the verbs. */
public final class RdmaStreamDevice implements StreamDevice {
  private final Context context;
  private final StreamResources resources;
  private final Optional<CmId> answerer;
  private boolean closed;

  private RdmaStreamDevice(Context context) {
    this.context = context;
    this.resources = new StreamResources(context);
    this.answerer = answerer();
  }

  /**
   * Opens a device.
   *
   * @param nameOrLocator as of {@link RdmaDevices#open}
   * @throws VerbsException as {@link RdmaDevices#open}
   */
  public static RdmaStreamDevice open(String nameOrLocator) {
    return over(RdmaDevices.open(nameOrLocator));
  }

  /** Streams over an open device, which closes it. */
  static RdmaStreamDevice over(Context context) {
    try {
      RdmaStreamDevice device = new RdmaStreamDevice(context);
      Thread.ofVirtual().name("hghca-streams").start(device.resources::dispatch);
      return device;
    } catch (VerbsException e) {
      context.close();
      throw e;
    }
  }

  /**
   * Listens on a port that nobody knows: while an identifier listens, peers that ask for ports
   * without a listener are refused before a time-out. Where TCP carries the handshakes the kernel
   * refuses them.
   */
  private Optional<CmId> answerer() {
    if (!context.queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR)) {
      return Optional.empty();
    }
    CmId id = resources.createId();
    id.listen(1);
    return Optional.of(id);
  }

  // Streams.

  @Override
  public List<InetAddress> addresses() {
    List<InetAddress> own =
        context.queryGidTable().stream()
            .map(GidEntry::gid)
            .filter(gid -> !gid.isLinkLocal())
            .map(gid -> gid.address())
            .distinct()
            .toList();
    return context.queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR) ? own : HostAddresses.of(own);
  }

  @Override
  public PendingConnect connect(
      InetSocketAddress local, InetSocketAddress remote, StreamOptions options) throws IOException {
    if (local != null) {
      requireOwn(local);
    }
    CmId id = identifier();
    RdmaPendingConnect connect = new RdmaPendingConnect(resources, id, options);
    resources.handle(id, connect);
    try {
      connect.begin(local, remote);
      return connect;
    } catch (VerbsException e) {
      resources.close(id);
      throw ConnectFailures.of(e);
    }
  }

  private void requireOwn(InetSocketAddress local) throws BindException {
    InetAddress address = local.getAddress();
    if (!address.isAnyLocalAddress() && !addresses().contains(address)) {
      throw new BindException("Cannot assign requested address");
    }
  }

  private CmId identifier() throws IOException {
    try {
      return resources.createId();
    } catch (VerbsException e) {
      throw ConnectFailures.of(e);
    }
  }

  @Override
  public StreamListener listen(InetSocketAddress local, int backlog, StreamOptions options)
      throws IOException {
    requireOwn(local);
    CmId id = identifier();
    RdmaStreamListener listener = new RdmaStreamListener(resources, id, backlog, options);
    resources.handle(id, listener);
    try {
      listener.begin(local);
    } catch (VerbsException e) {
      resources.close(id);
      throw ConnectFailures.of(e);
    }
    return listener;
  }

  /** Memory that a {@link MappedStream} of this device may tell its peer of. */
  public MemoryRegion allocate(long bytes, AccessFlag... access) {
    return resources.domain().allocate(bytes, access);
  }

  @Override
  public StreamCounters counters() {
    return resources.counters();
  }

  @Override
  public boolean progress() {
    return resources.engines().progress();
  }

  @Override
  public void beginPolling() {
    resources.engines().beginPolling();
  }

  @Override
  public void beginSleep(Runnable wake) {
    resources.engines().beginSleep(wake);
  }

  @Override
  public void endSleep(Runnable wake) {
    resources.engines().endSleep(wake);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    resources.endAll();
    answerer.ifPresent(resources::close);
    resources.close();
    context.close();
  }

  @Override
  public String toString() {
    return "streams over " + context.device().name();
  }
}
