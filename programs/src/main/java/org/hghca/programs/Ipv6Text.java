package org.hghca.programs;

import org.hghca.verbs.Gid;

/** A GID as {@code inet_ntop} writes an IPv6 address. */
public final class Ipv6Text {
  private static final int GROUPS = 8;

  private Ipv6Text() {}

  public static String of(Gid gid) {
    if (gid.ipv4().isPresent()) {
      int ip = gid.ipv4().get();
      return "::ffff:%d.%d.%d.%d"
          .formatted(ip >>> 24, ip >>> 16 & 0xff, ip >>> 8 & 0xff, ip & 0xff);
    }
    // The first of the longest runs of two or more zero groups becomes "::".
    int from = -1;
    int length = 1;
    for (int i = 0; i < GROUPS; i++) {
      int run = 0;
      while (i + run < GROUPS && group(gid, i + run) == 0) {
        run++;
      }
      if (run > length) {
        from = i;
        length = run;
      }
    }
    if (from < 0) {
      return groups(gid, 0, GROUPS);
    }
    return groups(gid, 0, from) + "::" + groups(gid, from + length, GROUPS);
  }

  private static String groups(Gid gid, int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      text.append(i == from ? "" : ":").append(Integer.toHexString(group(gid, i)));
    }
    return text.toString();
  }

  private static int group(Gid gid, int index) {
    long half = index < GROUPS / 2 ? gid.subnetPrefix() : gid.interfaceId();
    return (int) (half >>> 16 * (3 - index % 4)) & 0xffff;
  }
}
