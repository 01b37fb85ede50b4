package org.hghca.cm.carrier;

import java.net.InetAddress;
import java.util.Optional;
import java.util.function.Predicate;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.VerbsException;

/** Chooses the GID from which a device speaks, among those for RoCE v2 if there are any. */
public final class SourceGid {

  private SourceGid() {}

  /** The line of the GID table that holds an IP address. */
  public static Optional<GidEntry> of(Context context, InetAddress address) {
    Gid gid = Gid.of(address);
    return first(context, entry -> entry.gid().equals(gid));
  }

  /**
   * The address of the GID table that has the most leading bits in common with a remote one.
   *
   * @throws VerbsException ENETUNREACH when there is none of its family
   */
  public static InetAddress nearest(Context context, InetAddress remote) {
    Gid gid = Gid.of(remote);
    int most = -1;
    Gid nearest = gid;
    for (GidEntry entry : context.queryGidTable()) {
      int common = commonBits(entry.gid(), gid);
      if (isLike(gid, entry.gid()) && common > most) {
        most = common;
        nearest = entry.gid();
      }
    }
    if (most < 0) {
      throw new VerbsException(
          Errno.ENETUNREACH,
          "%s has no address from which to reach %s"
              .formatted(context.device().name(), remote.getHostAddress()));
    }
    return nearest.address();
  }

  /**
   * An address of the device itself, of the family of another one if there is one.
   *
   * @throws VerbsException ENODATA when the table is empty
   */
  public static InetAddress own(Context context, InetAddress like) {
    Gid gid = Gid.of(like);
    return first(context, entry -> isLike(gid, entry.gid()))
        .or(() -> first(context, entry -> !entry.gid().isLinkLocal()))
        .or(() -> first(context, _ -> true))
        .map(entry -> entry.gid().address())
        .orElseThrow(() -> none(context, "no GID"));
  }

  private static int commonBits(Gid one, Gid other) {
    int prefix = Long.numberOfLeadingZeros(one.subnetPrefix() ^ other.subnetPrefix());
    return prefix < Long.SIZE
        ? prefix
        : prefix + Long.numberOfLeadingZeros(one.interfaceId() ^ other.interfaceId());
  }

  /**
   * The line to use for a connection whose addresses are not the device's own: that of the address
   * nevertheless if there is one, or the link-local one, which names its MAC.
   *
   * @throws VerbsException ENODATA when the table is empty
   */
  public static GidEntry any(Context context, InetAddress local) {
    return of(context, local)
        .or(() -> first(context, entry -> entry.gid().isLinkLocal()))
        .or(() -> first(context, entry -> true))
        .orElseThrow(() -> none(context, "no GID"));
  }

  /**
   * The line from which to answer a peer: of the same kind as the peer's GID.
   *
   * @param local preferred, if it is of that kind
   * @throws VerbsException ENODATA when there is none of that kind
   */
  public static GidEntry matching(Context context, Gid peer, InetAddress local) {
    return of(context, local)
        .filter(entry -> isLike(peer, entry.gid()))
        .or(() -> first(context, entry -> isLike(peer, entry.gid())))
        .orElseThrow(() -> none(context, "no GID of the kind of the peer's, " + peer));
  }

  private static boolean isLike(Gid peer, Gid own) {
    return own.isLinkLocal() == peer.isLinkLocal()
        && own.ipv4().isPresent() == peer.ipv4().isPresent();
  }

  private static Optional<GidEntry> first(Context context, Predicate<GidEntry> wanted) {
    Optional<GidEntry> first = Optional.empty();
    for (GidEntry entry : context.queryGidTable()) {
      if (wanted.test(entry)) {
        if (entry.type() == GidType.ROCE_V2) {
          return Optional.of(entry);
        }
        if (first.isEmpty()) {
          first = Optional.of(entry);
        }
      }
    }
    return first;
  }

  private static VerbsException none(Context context, String what) {
    return new VerbsException(Errno.ENODATA, context.device().name() + " has " + what);
  }
}
