package org.hghca.driver.card;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.GidTable;
import org.hghca.mailbox.CommandException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;

/**
 * The GIDs of a card's port in the order of Linux: the link-local one of the MAC, then those of the
 * IPv4 addresses, then those of the IPv6 addresses. A card with a GID table gets them.
 */
public final class OwnGids {
  private OwnGids() {}

  /**
   * The GIDs of a card that is brought up.
   *
   * @throws VerbsException EOPNOTSUPP when a card without IPv6 is given an IPv6 address; EINVAL
   *     when the card cannot send from an address, or when there are too many
   */
  public static List<Gid> of(Card card, LinkAddress address) {
    Gid linkLocal = Gid.ofMac(address.mac());
    List<Gid> given = address.addresses().stream().map(Gid::of).toList();
    return card.limits().has(DeviceExtension.IPV6_ADDRESSES)
        ? written(card, linkLocal, given)
        : withoutIpv6(card, linkLocal, given);
  }

  private static List<Gid> withoutIpv6(Card card, Gid linkLocal, List<Gid> given) {
    List<Gid> gids = new ArrayList<>();
    if (!card.limits().has(DeviceExtension.NEIGHBOR_DISCOVERY)) {
      gids.add(linkLocal);
    }
    for (Gid gid : given) {
      if (gid.ipv4().isPresent()) {
        gids.add(gid);
      } else if (!gid.equals(linkLocal)) {
        throw new VerbsException(
            Errno.EOPNOTSUPP,
            "%s carries no IPv6 addresses: leave %s out of ip= of the locator"
                .formatted(card.function().locator(), gid.address().getHostAddress()));
      }
    }
    return gids;
  }

  private static List<Gid> written(Card card, Gid linkLocal, List<Gid> given) {
    List<Gid> gids = new ArrayList<>();
    if (write(card, 0, linkLocal)) {
      gids.add(linkLocal);
    } // else its port has no Ethernet of its own
    for (Gid gid : given) {
      if (gids.contains(gid)) {
        continue;
      }
      if (gids.size() == GidTable.SIZE) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s takes %d GIDs: leave addresses out of ip= of the locator"
                .formatted(card.function().locator(), GidTable.SIZE));
      }
      if (!write(card, gids.size(), gid)) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s cannot send from %s: name the addresses of its network with ip= of the locator"
                .formatted(card.function().locator(), gid.address().getHostAddress()));
      }
      gids.add(gid);
    }
    return List.copyOf(gids);
  }

  /** Returns whether the card can send from the GID's address. */
  private static boolean write(Card card, int index, Gid gid) {
    try {
      card.commands().writeGid(index, gid.subnetPrefix(), gid.interfaceId());
      return true;
    } catch (CommandException e) {
      if (e.statusCode() == CommandStatus.BAD_PARAM.code()) {
        return false;
      }
      throw e;
    }
  }
}
