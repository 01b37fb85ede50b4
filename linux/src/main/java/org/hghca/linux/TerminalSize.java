package org.hghca.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** How many characters a terminal shows. */
public record TerminalSize(int rows, int columns) {
  /** TIOCGWINSZ (asm-generic/ioctls.h), whose structure is four unsigned shorts. */
  private static final int GET_WINDOW_SIZE = 0x5413;

  /** That of the terminal behind a descriptor; empty where there is none, or it does not know. */
  public static Optional<TerminalSize> of(SystemCalls linux, int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment size = arena.allocate(8);
      if (linux.ioctl(descriptor, GET_WINDOW_SIZE, size) != 0) {
        return Optional.empty();
      }
      int rows = Short.toUnsignedInt(size.get(ValueLayout.JAVA_SHORT, 0));
      int columns = Short.toUnsignedInt(size.get(ValueLayout.JAVA_SHORT, 2));
      return rows == 0 || columns == 0
          ? Optional.empty()
          : Optional.of(new TerminalSize(rows, columns));
    }
  }
}
