package org.hghca.cm.ib;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.cm.carrier.Listener;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Who listens on what. Used under the agent's lock. */
final class Listeners {
  private final Map<Long, List<Entry>> byService = new HashMap<>();

  /** One that listens. It equals itself alone: the same may be listened on again later. */
  static final class Entry {
    private final long serviceId;
    private final InetAddress local;
    private final Listener listener;

    /**
     * One that listens.
     *
     * @param local an address of the device, or the wildcard
     */
    Entry(long serviceId, InetAddress local, Listener listener) {
      this.serviceId = serviceId;
      this.local = local;
      this.listener = listener;
    }

    Listener listener() {
      return listener;
    }

    boolean matches(InetAddress address) {
      return local.isAnyLocalAddress() || local.equals(address);
    }
  }

  /**
   * Adds one.
   *
   * @throws VerbsException EADDRINUSE when another has the service ID at an address of this one
   */
  void add(Entry entry) {
    List<Entry> entries = byService.getOrDefault(entry.serviceId, List.of());
    for (Entry other : entries) {
      if (other.matches(entry.local) || entry.matches(other.local)) {
        throw new VerbsException(
            Errno.EADDRINUSE,
            "another listener has service ID 0x%016x at %s"
                .formatted(entry.serviceId, other.local.getHostAddress()));
      }
    }
    byService.computeIfAbsent(entry.serviceId, _ -> new ArrayList<>()).add(entry);
  }

  void remove(Entry entry) {
    byService.computeIfPresent(
        entry.serviceId,
        (_, entries) -> {
          entries.remove(entry);
          return entries.isEmpty() ? null : entries;
        });
  }

  boolean isOpen(Entry entry) {
    return byService.getOrDefault(entry.serviceId, List.of()).contains(entry);
  }

  boolean hasService(long serviceId) {
    return byService.containsKey(serviceId);
  }

  Optional<Entry> at(long serviceId, InetAddress address) {
    return byService.getOrDefault(serviceId, List.of()).stream()
        .filter(entry -> entry.matches(address))
        .findFirst();
  }

  List<Entry> all() {
    return byService.values().stream().flatMap(List::stream).toList();
  }

  void clear() {
    byService.clear();
  }
}
