package org.hghca.provider.address;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import org.hghca.verbs.Gid;

/**
 * The kernel's table of IPv4 neighbors, for a card that stands beside a network card of the kernel
 * in one network. It is read at each question, and never changed. Thread-safe.
 *
 * <pre>
 * IP address       HW type     Flags       HW address            Mask     Device
 * 192.0.2.7        0x1         0x2         02:00:00:00:00:07     *        eth0
 * </pre>
 *
 * <p>Source: proc_net(5); the flags are those of {@code linux/if_arp.h}.
 */
public final class KernelNeighbors implements Neighbors.Table {
  private static final Path ARP = Path.of("/proc/net/arp");
  private static final int ADDRESS = 0;
  private static final int TYPE = 1;
  private static final int FLAGS = 2;
  private static final int MAC = 3;
  private static final int COLUMNS = 6;
  private static final int ETHERNET = 1;

  /** ATF_COM: the entry has been answered. */
  private static final int COMPLETE = 2;

  private final Path table;

  /** The table of this process's network namespace. */
  public KernelNeighbors() {
    this(ARP);
  }

  KernelNeighbors(Path table) {
    this.table = table;
  }

  @Override
  public OptionalLong mac(Gid gid) {
    if (gid.ipv4().isEmpty()) {
      return OptionalLong.empty();
    }
    String address = gid.address().getHostAddress();
    return lines().stream()
        .map(line -> line.trim().split("\\s+"))
        .filter(columns -> columns.length == COLUMNS && columns[ADDRESS].equals(address))
        .filter(columns -> Integer.decode(columns[TYPE]) == ETHERNET)
        .filter(columns -> (Integer.decode(columns[FLAGS]) & COMPLETE) != 0)
        .mapToLong(columns -> HexFormat.fromHexDigitsToLong(columns[MAC].replace(":", "")))
        .findFirst();
  }

  /** None where /proc is not available: then nothing is known. */
  private List<String> lines() {
    try {
      return Files.readAllLines(table);
    } catch (IOException e) {
      return List.of();
    }
  }
}
