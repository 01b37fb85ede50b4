package org.hghca.provider;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;

/** The Ethernet address of each GID: the card does no address resolution. Thread-safe. */
public final class Neighbors {
  private final Map<Gid, Long> known = new ConcurrentHashMap<>();

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
   * The MAC of a GID: the registered one, else the one in a link-local GID.
   *
   * @throws VerbsException EINVAL when it is not known, with the fix
   */
  public long resolve(Gid gid) {
    Long told = known.get(gid);
    if (told != null) {
      return told;
    }
    OptionalLong inside = gid.mac();
    return inside.orElseThrow(
        () ->
            new VerbsException(
                Errno.EINVAL,
                "the MAC of GID %s is not known and the device does no address resolution: set it with"
                        .formatted(gid)
                    + " Context.addNeighbor, or use the peer's link-local GID (index 0)"));
  }
}
