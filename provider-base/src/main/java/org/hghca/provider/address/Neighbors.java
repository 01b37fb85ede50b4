package org.hghca.provider.address;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;

/**
 * The Ethernet address of each GID: as the program has told it, as a link-local GID contains it, or
 * as a table that others keep has it. The card does no address resolution. Thread-safe.
 */
public final class Neighbors {
  private final Map<Gid, Long> known = new ConcurrentHashMap<>();
  private final Table table;

  /** A table of Ethernet addresses that others keep. Thread-safe. */
  @FunctionalInterface
  public interface Table {
    /** The MAC of a GID, if the table has it. */
    OptionalLong mac(Gid gid);
  }

  /** Neighbors of a device with no other table than what the program tells. */
  public Neighbors() {
    this(gid -> OptionalLong.empty());
  }

  /**
   * Neighbors of a device in a network that others know.
   *
   * @param table asked for what the program has not told
   */
  public Neighbors(Table table) {
    this.table = table;
  }

  public void add(Gid gid, long mac) {
    if (mac >>> 48 != 0) {
      throw new VerbsException(Errno.EINVAL, "0x%x is not a 48-bit MAC".formatted(mac));
    }
    known.put(gid, mac);
  }

  /** The MAC of a GID as told. */
  public OptionalLong told(Gid gid) {
    Long mac = known.get(gid);
    return mac == null ? OptionalLong.empty() : OptionalLong.of(mac);
  }

  /**
   * The MAC of a GID: the registered one, else the one in a link-local GID, else that of the table.
   *
   * @throws VerbsException EINVAL when it is not known, with the fix
   */
  public long resolve(Gid gid) {
    Long told = known.get(gid);
    if (told != null) {
      return told;
    }
    OptionalLong inside = gid.mac();
    return inside.isPresent() ? inside.getAsLong() : table.mac(gid).orElseThrow(() -> unknown(gid));
  }

  private static VerbsException unknown(Gid gid) {
    return new VerbsException(
        Errno.EINVAL,
        ("the MAC of GID %s is not known and the device does no address resolution: set it with"
                + " Context.addNeighbor, or use the peer's link-local GID (index 0); for a card"
                + " beside a network card of the kernel 'ping %s' on this machine first")
            .formatted(gid, gid.address().getHostAddress()));
  }
}
