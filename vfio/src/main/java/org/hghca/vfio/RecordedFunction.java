package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.hghca.vfio.trace.Recording;

/** A function of which everything is recorded that a replay needs: registers, mappings, memory. */
final class RecordedFunction extends ForwardingFunction {
  private final Recording recording;
  private final AtomicBoolean closed = new AtomicBoolean();

  RecordedFunction(PciFunction function, Recording recording) {
    super(function);
    this.recording = recording;
    PciIds ids = PciIds.of(function.configuration());
    LinkAddress address = LinkAddress.of(function);
    String ip =
        address.addresses().stream()
            .map(InetAddress::getHostAddress)
            .collect(Collectors.joining(","));
    recording.opened(ids.vendor(), ids.device(), address.macText(), ip);
  }

  @Override
  public ConfigurationSpace configuration() {
    ConfigurationSpace space = super.configuration();
    return new ConfigurationSpace() {
      @Override
      public int read(int offset, int width) {
        return space.read(offset, width);
      }

      @Override
      public void write(int offset, int width, int value) {
        recording.configured(offset, width, value, () -> space.write(offset, width, value));
      }
    };
  }

  /** Registers whose every access is a call, so that none is missed. */
  @Override
  public MmioRegion region(int bar) {
    MmioRegion registers = super.region(bar);
    return MmioRegion.trapped(
        registers.size(),
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            return recording.load(bar, offset, width, () -> registers.read(offset, width));
          }

          @Override
          public void write(long offset, int width, long value) {
            recording.store(bar, offset, width, value, () -> registers.write(offset, width, value));
          }

          @Override
          public boolean isPosted() {
            return registers.isPosted();
          }
        });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    return recorded(super.allocate(bytes), true);
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return recorded(super.map(memory, access), false);
  }

  private DmaMapping recorded(DmaMapping mapping, boolean allocated) {
    int number =
        recording.mapped(mapping.segment(), allocated, mapping.access().name(), pieces(mapping));
    return new ForwardingMapping(mapping) {
      @Override
      public void close() {
        recording.unmapped(number);
        super.close();
      }
    };
  }

  /** The bus addresses of a mapping, in as few pieces as they have. */
  private static String pieces(DmaMapping mapping) {
    long size = mapping.segment().byteSize();
    StringJoiner pieces = new StringJoiner(" ");
    long begin = 0;
    long at = DmaMapping.PAGE_SIZE - (mapping.iova(0) & DmaMapping.PAGE_SIZE - 1);
    while (at < size) {
      if (mapping.iova(at) != mapping.iova(begin) + at - begin) {
        pieces.add(piece(mapping, begin, at));
        begin = at;
      }
      at += DmaMapping.PAGE_SIZE;
    }
    return pieces.add(piece(mapping, begin, size)).toString();
  }

  private static String piece(DmaMapping mapping, long begin, long end) {
    return "0x%x+%d".formatted(mapping.iova(begin), end - begin);
  }

  @Override
  public void reset() {
    recording.reset();
    super.reset();
  }

  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      recording.closed();
    }
    super.close();
  }
}
