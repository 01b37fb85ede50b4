package org.hghca.provider.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The file of one device of this process. It is locked from its creation to its end, so that
 * readers in any namespace of processes know whether its writer lives. Writing is by pwrite(2): a
 * file system without room is an exception, where a store to mapped memory would be a signal.
 */
public final class SnapshotFile implements AutoCloseable {
  /** What the names of snapshots end with. */
  static final String SUFFIX = ".counters";

  private static final String UNFINISHED = ".new";

  /**
   * Those of this process, which reads them through the channels that they have: the end of any
   * other descriptor would take the lock away (fcntl(2)).
   */
  private static final Map<Path, SnapshotFile> OWN = new ConcurrentHashMap<>();

  private final Path path;
  private final FileChannel channel;
  private final ByteBuffer word =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private long sequence;

  private SnapshotFile(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Makes a file with its first snapshot. It has its name only then, so that no reader takes it for
   * that of a dead process.
   *
   * @param first as {@link SnapshotEncoder#end} has it
   */
  public static SnapshotFile create(Path directory, long pid, ByteBuffer first) throws IOException {
    Path unfinished = Files.createTempFile(directory, pid + "-", UNFINISHED); // mode 0600
    FileChannel channel =
        FileChannel.open(unfinished, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      String name = unfinished.getFileName().toString();
      Path path =
          directory.resolve(name.substring(0, name.length() - UNFINISHED.length()) + SUFFIX);
      SnapshotFile file = new SnapshotFile(path, channel);
      if (channel.tryLock() == null) {
        throw new IOException("another process has locked " + unfinished);
      }
      file.write(first);
      OWN.put(path, file);
      Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
      return file;
    } catch (IOException | RuntimeException e) {
      channel.close();
      Files.deleteIfExists(unfinished);
      throw e;
    }
  }

  /** The file of that path that this process writes. */
  static Optional<SnapshotFile> own(Path path) {
    return Optional.ofNullable(OWN.get(path));
  }

  public Path path() {
    return path;
  }

  /** For readers in this process. */
  FileChannel channel() {
    return channel;
  }

  /** Replaces the snapshot. */
  public void write(ByteBuffer snapshot) throws IOException {
    sequence++;
    snapshot.putLong(SnapshotLayout.SEQUENCE_AT, sequence);
    writeAll(snapshot, 0);
    sequence++;
    writeAll(word.clear().putLong(0, sequence), SnapshotLayout.SEQUENCE_AT);
  }

  private void writeAll(ByteBuffer bytes, long at) throws IOException {
    long to = at;
    while (bytes.hasRemaining()) {
      to += channel.write(bytes, to);
    }
  }

  /** Removes it. */
  @Override
  public void close() throws IOException {
    try (channel) {
      Files.deleteIfExists(path);
    } finally {
      OWN.remove(path);
    }
  }
}
