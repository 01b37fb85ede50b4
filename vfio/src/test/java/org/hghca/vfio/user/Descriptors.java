package org.hghca.vfio.user;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The open descriptors of this process that a test may leak: sockets, events, memory files. */
final class Descriptors {

  private Descriptors() {}

  /** The number of each kind, such as {@code anon_inode:[eventfd]}. */
  static Map<String, Integer> open() {
    Map<String, Integer> kinds = new TreeMap<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : all) {
        String target;
        try {
          target = Files.readSymbolicLink(descriptor).toString();
        } catch (IOException gone) {
          continue;
        }
        if (target.startsWith("socket:") || target.startsWith("pipe:")) {
          kinds.merge(target.substring(0, target.indexOf(':')), 1, Integer::sum);
        } else if (target.startsWith("anon_inode:") || target.startsWith("/memfd:")) {
          kinds.merge(target, 1, Integer::sum);
        }
      }
      return kinds;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
