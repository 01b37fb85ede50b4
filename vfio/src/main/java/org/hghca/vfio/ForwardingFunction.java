package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.hghca.vfio.trace.DeviceTrace;

/** A function that forwards every call to another one, for subclasses that change some of it. */
public abstract class ForwardingFunction implements PciFunction {
  private final PciFunction function;

  protected ForwardingFunction(PciFunction function) {
    this.function = Objects.requireNonNull(function);
  }

  @Override
  public Locator locator() {
    return function.locator();
  }

  @Override
  public ConfigurationSpace configuration() {
    return function.configuration();
  }

  @Override
  public MmioRegion region(int bar) {
    return function.region(bar);
  }

  @Override
  public DmaMapping allocate(long bytes) {
    return function.allocate(bytes);
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return function.map(memory, access);
  }

  @Override
  public void checkPresent(MemorySegment memory, DmaAccess access) {
    function.checkPresent(memory, access);
  }

  @Override
  public MemorySource memory() {
    return function.memory();
  }

  @Override
  public Interrupts interrupts() {
    return function.interrupts();
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return function.dmaFaults();
  }

  @Override
  public String iommuMode() {
    return function.iommuMode();
  }

  @Override
  public long mappedBytes() {
    return function.mappedBytes();
  }

  @Override
  public Map<String, Long> portCounters() {
    return function.portCounters();
  }

  @Override
  public boolean reportsDmaFaults() {
    return function.reportsDmaFaults();
  }

  @Override
  public long dmaFaultCount() {
    return function.dmaFaultCount();
  }

  @Override
  public Optional<DeviceTrace> trace() {
    return function.trace();
  }

  @Override
  public boolean canReset() {
    return function.canReset();
  }

  @Override
  public void reset() {
    function.reset();
  }

  @Override
  public void idle() {
    function.idle();
  }

  @Override
  public void beforeSleep(BooleanSupplier happened) {
    function.beforeSleep(happened);
  }

  @Override
  public void happened() {
    function.happened();
  }

  @Override
  public void beginPolling() {
    function.beginPolling();
  }

  @Override
  public void endPolling() {
    function.endPolling();
  }

  @Override
  public int idleEvery() {
    return function.idleEvery();
  }

  @Override
  public void close() {
    function.close();
  }
}
