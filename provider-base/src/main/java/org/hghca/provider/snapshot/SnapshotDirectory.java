package org.hghca.provider.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.RuntimeDirectory;

/** Where the programs of a user publish their counters: the snapshots of all of them. */
public final class SnapshotDirectory {
  private static final String NAME = "counters";

  /** How often a file is read again that was being written. */
  private static final int ATTEMPTS = 50;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Path directory;

  /**
   * A snapshot that was found.
   *
   * @param isAlive whether its program still has the device open; otherwise these are its last
   *     values, and its file is removed
   */
  public record Found(Snapshot snapshot, boolean isAlive) {}

  /**
   * What was found.
   *
   * @param snapshots by process and device
   * @param complaints a line for each file that is none, beginning with its path
   */
  public record Reading(List<Found> snapshots, List<String> complaints) {}

  SnapshotDirectory(Path directory) {
    this.directory = directory;
  }

  /**
   * That of this user, which is made if it is not there.
   *
   * @throws IOException saying what is wrong with which directory, and the fix
   */
  public static SnapshotDirectory ofUser() throws IOException {
    return new SnapshotDirectory(RuntimeDirectory.directory(NAME));
  }

  public Path path() {
    return directory;
  }

  /**
   * Reads all snapshots. Those whose programs have ended without a close are removed.
   *
   * @throws IOException when the directory cannot be read
   */
  public Reading read() throws IOException {
    List<Found> found = new ArrayList<>();
    List<String> complaints = new ArrayList<>();
    int user = owner(directory);
    synchronized (SnapshotDirectory.class) { // a lock of a file is the process's
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(directory, "*" + SnapshotFile.SUFFIX)) {
        for (Path file : files) {
          try {
            found.add(read(file, user));
          } catch (NoSuchFileException e) {
            // Its program has closed its device meanwhile.
          } catch (IOException e) {
            complaints.add("%s %s".formatted(file, e.getMessage()));
          }
        }
      }
    }
    found.sort(
        Comparator.comparingLong((Found one) -> one.snapshot().program().pid())
            .thenComparing(one -> one.snapshot().device()));
    return new Reading(List.copyOf(found), List.copyOf(complaints));
  }

  private static int owner(Path file) throws IOException {
    return (int) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
  }

  private static Found read(Path file, int user) throws IOException {
    Optional<SnapshotFile> own = SnapshotFile.own(file);
    if (own.isPresent()) {
      return new Found(decode(own.get().channel(), true), true);
    }
    int owner = owner(file);
    if (owner != user) {
      throw new IOException(
          "belongs to user %s, and is not read".formatted(Integer.toUnsignedString(owner)));
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("is no file");
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      boolean isAlive = channel.tryLock(0, Long.MAX_VALUE, true) == null;
      if (!isAlive) {
        Files.deleteIfExists(file); // whatever it holds, nobody writes it any more
      }
      return new Found(decode(channel, isAlive), isAlive);
    }
  }

  private static Snapshot decode(FileChannel channel, boolean isAlive) throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      ByteBuffer header = read(channel, 0, SnapshotLayout.HEADER);
      int length = SnapshotDecoder.bodyLength(header);
      long sequence = header.getLong(SnapshotLayout.SEQUENCE_AT);
      if ((sequence & 1) == 0) {
        ByteBuffer whole = read(channel, 0, SnapshotLayout.HEADER + length);
        ByteBuffer after = read(channel, SnapshotLayout.SEQUENCE_AT, Long.BYTES);
        if (after.remaining() == Long.BYTES && after.getLong(0) == sequence) {
          return SnapshotDecoder.decode(whole);
        }
      }
      if (!isAlive) {
        throw new IOException("was being written when its program died");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw new IOException("is being written all the time");
  }

  /** As many bytes as there are. */
  private static ByteBuffer read(FileChannel channel, long from, int most) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(most).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining() && channel.read(bytes, from + bytes.position()) > 0) {
      // Until it is full, or the file ends.
    }
    return bytes.flip();
  }
}
