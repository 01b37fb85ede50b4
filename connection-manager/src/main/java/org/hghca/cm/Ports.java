package org.hghca.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Who has which port of which port space. Thread-safe. */
final class Ports {
  /** Ephemeral ports: below those of Linux's TCP, with which the TCP carrier shares the numbers. */
  private static final int FIRST = 16384;

  private static final int COUNT = 16384;

  private record Key(PortSpace space, int port) {}

  /** A port that is bound until it is closed. */
  final class Binding implements AutoCloseable {
    private final Key key;
    private final InetAddress address;
    private final boolean reusable;

    private Binding(Key key, InetAddress address, boolean reusable) {
      this.key = key;
      this.address = address;
      this.reusable = reusable;
    }

    int port() {
      return key.port();
    }

    private boolean allows(InetAddress other, boolean shared) {
      boolean overlap =
          address.equals(other) || address.isAnyLocalAddress() || other.isAnyLocalAddress();
      return !overlap || reusable && shared;
    }

    @Override
    public void close() {
      remove(this);
    }
  }

  private final Map<Key, List<Binding>> bound = new HashMap<>();

  /**
   * Binds a port.
   *
   * @param address with port 0 for any free one
   * @param reusable whether others that are reusable may have it, too
   * @throws VerbsException EADDRINUSE when it is taken
   */
  synchronized Binding bind(PortSpace space, InetSocketAddress address, boolean reusable) {
    if (address.getPort() != 0) {
      return bind(new Key(space, address.getPort()), address.getAddress(), reusable);
    }
    int start = ThreadLocalRandom.current().nextInt(COUNT);
    for (int i = 0; i < COUNT; i++) {
      Key key = new Key(space, FIRST + (start + i) % COUNT);
      if (!bound.containsKey(key)) {
        return bind(key, address.getAddress(), reusable);
      }
    }
    throw new VerbsException(Errno.EADDRINUSE, "all ephemeral ports are in use");
  }

  private Binding bind(Key key, InetAddress address, boolean reusable) {
    List<Binding> others = bound.computeIfAbsent(key, absent -> new ArrayList<>());
    for (Binding other : others) {
      if (!other.allows(address, reusable)) {
        throw new VerbsException(
            Errno.EADDRINUSE,
            "port %d of %s is in use at %s".formatted(key.port(), key.space(), other.address));
      }
    }
    Binding binding = new Binding(key, address, reusable);
    others.add(binding);
    return binding;
  }

  private synchronized void remove(Binding binding) {
    List<Binding> others = bound.get(binding.key);
    if (others != null && others.remove(binding) && others.isEmpty()) {
      bound.remove(binding.key);
    }
  }
}
