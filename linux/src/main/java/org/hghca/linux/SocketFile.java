package org.hghca.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;

/**
 * The file of a UNIX socket: who may write to it may connect. {@code bind} makes it with the mode
 * of the socket without the bits of the umask, which is 0777 if nobody sets another.
 */
public final class SocketFile {
  private static final int O_NOFOLLOW = 0x2_0000;
  private static final int O_CLOEXEC = 0x8_0000;
  private static final int O_PATH = 0x20_0000;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFSOCK = 0xc000;

  private static final int OWNER = 0600;
  private static final Set<PosixFilePermission> OWNER_AND_GROUP =
      PosixFilePermissions.fromString("rw-rw----");

  /** The most bytes of a path. */
  public static final int LONGEST_PATH = 107;

  private static final int UNIX_FAMILY = 1;
  private static final int PATH_AT = 2;

  private SocketFile() {}

  /**
   * The {@code struct sockaddr_un} of a path: the family, the path and a zero.
   *
   * @param path its bytes, at most {@value #LONGEST_PATH}
   */
  public static MemorySegment name(byte[] path, Arena arena) {
    MemorySegment name = arena.allocate(PATH_AT + path.length + 1L, 8);
    name.set(ValueLayout.JAVA_SHORT, 0, (short) UNIX_FAMILY);
    MemorySegment.copy(path, 0, name, ValueLayout.JAVA_BYTE, PATH_AT, path.length);
    return name;
  }

  /**
   * Lets the owner connect, and nobody else, from the first moment: before {@code bind}. {@code
   * listen} can follow {@code bind} at once, so that a client that sees the file is not refused.
   *
   * @return 0 or a negative error number
   */
  public static int restrictToOwner(SystemCalls system, int socket) {
    return system.fchmod(socket, OWNER);
  }

  /**
   * Lets the members of a group connect, too; after {@code bind}. Where others may write to the
   * folder, one of them may have put another file in its place: what is changed is a socket of this
   * user with no other name.
   *
   * @throws IOException saying why not
   */
  public static void share(SystemCalls system, Path file, GroupPrincipal group) throws IOException {
    int descriptor = system.open(file.toString(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
      throw new IOException(LinuxErrno.describe(descriptor));
    }
    try {
      Path opened = Path.of("/proc/self/fd/" + descriptor);
      check(Files.readAttributes(opened, "unix:mode,uid,nlink"), system.geteuid());
      PosixFileAttributeView view =
          Files.getFileAttributeView(opened, PosixFileAttributeView.class);
      give(view, group);
      view.setPermissions(OWNER_AND_GROUP);
    } finally {
      system.close(descriptor);
    }
  }

  private static void check(Map<String, Object> attributes, int user) throws IOException {
    if (((int) attributes.get("mode") & S_IFMT) != S_IFSOCK
        || (int) attributes.get("uid") != user
        || (int) attributes.get("nlink") != 1) {
      throw new IOException("another file has taken its place");
    }
  }

  private static void give(PosixFileAttributeView view, GroupPrincipal group) throws IOException {
    try {
      view.setGroup(group);
    } catch (FileSystemException e) {
      throw new IOException(
          "%s: this user must be a member of the group '%s'"
              .formatted(e.getReason(), group.getName()),
          e);
    }
  }
}
