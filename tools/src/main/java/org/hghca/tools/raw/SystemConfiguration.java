package org.hghca.tools.raw;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.Locator;

/**
 * Configuration space as the system shows it beside the one who has the function open. It is read
 * only. What this user may not see, without privileges all from 40h on, reads as 0. Thread-safe.
 */
public final class SystemConfiguration implements ConfigurationSpace {
  private static final Path DEVICES = Path.of("/sys/bus/pci/devices");

  private final Path file;

  SystemConfiguration(Path file) {
    this.file = file;
  }

  /**
   * That of a function.
   *
   * @param function resolved; its name is the PCI address
   * @return empty for a function that the system does not have, such as a device in software
   */
  public static Optional<ConfigurationSpace> of(Locator function) {
    return function.scheme().equals("pci")
        ? Optional.of(DEVICES.resolve(function.name()).resolve("config"))
            .filter(Files::isReadable)
            .map(SystemConfiguration::new)
        : Optional.empty();
  }

  @Override
  public int read(int offset, int width) {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel config = FileChannel.open(file)) {
      config.read(bytes.limit(width), offset);
    } catch (IOException e) {
      return 0; // it is gone
    }
    return bytes.clear().getInt();
  }

  @Override
  public void write(int offset, int width, int value) {
    throw new UnsupportedOperationException("who has the function open writes it");
  }
}
