package org.hghca.vfio;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceFile;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** A function whose mappings, interrupts and resets are recorded. */
final class TracedFunction extends ForwardingFunction {
  private static final String DMA = "DMA";
  private static final TraceKind MAP = TraceKind.control("dma-map", r -> mapping("map", r));
  private static final TraceKind UNMAP = TraceKind.control("dma-unmap", r -> mapping("unmap", r));
  private static final TraceKind RESET =
      TraceKind.control("reset", _ -> TraceText.of("function", "reset"));
  private static final TraceKind INTERRUPT = TraceKind.data("interrupt", TracedFunction::interrupt);

  private final TraceFile file;
  private final DeviceTrace trace;
  private final AtomicBoolean closed = new AtomicBoolean();

  private TracedFunction(PciFunction function, TraceFile file, DeviceTrace trace) {
    super(function);
    this.file = file;
    this.trace = trace;
  }

  /** Opens a function; its trace is open before, and closes with it. */
  static PciFunction open(PciFunctionProvider provider, Locator locator) {
    Optional<String> name = locator.parameter(DriverParameter.TRACE.key());
    if (name.isEmpty()) {
      return provider.open(locator);
    }
    TraceFile file = file(name.get());
    PciFunction function = null;
    boolean opened = false;
    try {
      function = provider.open(locator);
      DeviceTrace trace = trace(locator).orElseThrow();
      TracedFunction traced = new TracedFunction(recorded(function, trace), file, trace);
      opened = true;
      return traced;
    } finally {
      if (!opened) {
        close(function, file);
      }
    }
  }

  private static PciFunction recorded(PciFunction function, DeviceTrace trace) {
    return trace
        .recording()
        .<PciFunction>map(recording -> new RecordedFunction(function, recording))
        .orElse(function);
  }

  private static void close(PciFunction function, TraceFile file) {
    try (file) {
      if (function != null) {
        function.close();
      }
    }
  }

  private static TraceFile file(String name) {
    try {
      return TraceFile.open(name);
    } catch (UncheckedIOException e) {
      throw new VfioException(VfioException.Reason.INVALID, e.getMessage(), e);
    }
  }

  /** The trace of an open device, empty if its locator does not ask for it. */
  static Optional<DeviceTrace> trace(Locator locator) {
    return locator
        .parameter(DriverParameter.TRACE.key())
        .flatMap(name -> TraceFile.device(name, locator.scheme() + ":" + locator.name()));
  }

  @Override
  public Optional<DeviceTrace> trace() {
    return Optional.of(trace);
  }

  private static TraceText mapping(String title, TraceRecord record) {
    return TraceText.of(DMA, title)
        .withHex("iova", record.first())
        .with("bytes", record.second())
        .with("access", DmaAccess.values()[(int) record.third()].name());
  }

  private static TraceText interrupt(TraceRecord record) {
    long vectors = record.first();
    String title =
        Long.bitCount(vectors) == 1
            ? "vector " + Long.numberOfTrailingZeros(vectors)
            : "vectors " + TraceText.hex(vectors);
    return TraceText.of("interrupts", title).withHex("vectors", vectors);
  }

  @Override
  public DmaMapping allocate(long bytes) {
    return traced(super.allocate(bytes));
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return traced(super.map(memory, access));
  }

  private DmaMapping traced(DmaMapping mapping) {
    long iova = mapping.iova(0);
    long bytes = mapping.segment().byteSize();
    int access = mapping.access().ordinal();
    trace.record(MAP, iova, bytes, access, 0);
    AtomicBoolean unmapped = new AtomicBoolean();
    return new ForwardingMapping(mapping) {
      @Override
      public void close() {
        if (!unmapped.getAndSet(true)) {
          trace.record(UNMAP, iova, bytes, access, 0);
        }
        super.close();
      }
    };
  }

  @Override
  public Interrupts interrupts() {
    Interrupts interrupts = super.interrupts();
    return new Interrupts() {
      @Override
      public int vectors() {
        return interrupts.vectors();
      }

      @Override
      public long await(long timeoutNanos) {
        long fired = interrupts.await(timeoutNanos);
        if (fired != 0) {
          trace.record(INTERRUPT, fired, 0, 0, 0);
        }
        return fired;
      }

      @Override
      public long count(int vector) {
        return interrupts.count(vector);
      }

      @Override
      public void wake() {
        interrupts.wake();
      }
    };
  }

  @Override
  public void reset() {
    trace.record(RESET, 0, 0, 0, 0);
    super.reset();
  }

  @Override
  public void close() {
    try {
      super.close();
    } finally {
      if (!closed.getAndSet(true)) {
        file.close();
      }
    }
  }
}
