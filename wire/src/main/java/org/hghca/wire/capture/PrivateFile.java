package org.hghca.wire.capture;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/**
 * A file that only its owner may read, as packets are nobody else's business. In a folder where
 * others may write, such as {@code /tmp}, one of them may have put something at its path before: a
 * link to a file that would be overwritten, or a file of their own, which they would read. What
 * exists is therefore checked through its open descriptor, which nobody can exchange.
 */
public final class PrivateFile {
  private static final int O_WRONLY = 0x1;
  private static final int O_NOCTTY = 0x100;
  private static final int O_NONBLOCK = 0x800;
  private static final int O_NOFOLLOW = 0x2_0000;
  private static final int O_CLOEXEC = 0x8_0000;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFREG = 0x8000;

  /** Error numbers that only paths give. */
  private static final int EISDIR = 21;

  private static final int ELOOP = 40;

  private static final Set<PosixFilePermission> OWNER_ALONE =
      PosixFilePermissions.fromString("rw-------");

  private PrivateFile() {}

  /**
   * Creates the file, or empties one that is a regular file of this user with no other name. Locks
   * it against other captures.
   *
   * @throws CaptureException when it cannot be written, saying why
   */
  public static FileChannel open(Path file) throws CaptureException {
    if (file.toString().isEmpty()) {
      throw new CaptureException("it names no file");
    }
    try {
      FileChannel channel = channel(file);
      try {
        lock(channel);
        return channel.truncate(0);
      } catch (IOException | RuntimeException | Error e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw new CaptureException("%s cannot be written: %s".formatted(file, why(e)), e);
    }
  }

  private static FileChannel channel(Path file) throws IOException {
    try {
      return FileChannel.open(
          file,
          Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
          PosixFilePermissions.asFileAttribute(OWNER_ALONE));
    } catch (FileAlreadyExistsException _) {
      return existing(file);
    }
  }

  private static FileChannel existing(Path file) throws IOException {
    SystemCalls linux = Linux.system();
    // Without O_NONBLOCK a named pipe without a reader would wait for one.
    int descriptor =
        linux.open(file.toString(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) {
      throw new IOException(why(descriptor));
    }
    try {
      Path opened = Path.of("/proc/self/fd/" + descriptor);
      check(Files.readAttributes(opened, "unix:mode,uid,nlink"), linux.geteuid());
      Files.setPosixFilePermissions(opened, OWNER_ALONE);
      return FileChannel.open(opened, StandardOpenOption.WRITE);
    } finally {
      linux.close(descriptor);
    }
  }

  private static void check(Map<String, Object> attributes, int user) throws IOException {
    if (((int) attributes.get("mode") & S_IFMT) != S_IFREG) {
      throw new IOException("it is not a regular file");
    }
    int owner = (int) attributes.get("uid");
    if (owner != user) {
      throw new IOException(
          "it exists and belongs to user %d, this process to %d: use a name of your own"
              .formatted(owner, user));
    }
    int names = (int) attributes.get("nlink");
    if (names != 1) {
      throw new IOException(
          "it exists and has %d hard links: remove it, or use another name".formatted(names));
    }
  }

  private static void lock(FileChannel channel) throws IOException {
    boolean free;
    try {
      free = channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      free = false;
    }
    if (!free) {
      throw new IOException("another capture writes to it: give each a file of its own");
    }
  }

  private static String why(int error) {
    return switch (-error) {
      case EISDIR -> "Is a directory";
      case ELOOP -> "it is a symbolic link: name the file itself";
      default ->
          LinuxErrno.EACCES.is(error)
              ? "this user may not write there"
              : LinuxErrno.ENXIO.is(error)
                  ? "it is not a regular file"
                  : LinuxErrno.describe(error);
    };
  }

  private static String why(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "its folder must exist";
      case AccessDeniedException _ -> "this user may not write there";
      case FileSystemException f when f.getReason() != null -> f.getReason();
      default -> e.getMessage();
    };
  }
}
