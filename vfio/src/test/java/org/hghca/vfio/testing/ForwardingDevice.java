package org.hghca.vfio.testing;

import java.util.Objects;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;

/** A device that forwards every call to another one, for subclasses that change some of them. */
public abstract class ForwardingDevice implements EmulatedFunction {
  private final EmulatedFunction device;

  protected ForwardingDevice(EmulatedFunction device) {
    this.device = Objects.requireNonNull(device);
  }

  @Override
  public void attach(DeviceBus bus) {
    device.attach(bus);
  }

  @Override
  public long regionSize(int bar) {
    return device.regionSize(bar);
  }

  @Override
  public long read(int bar, long offset, int width) {
    return device.read(bar, offset, width);
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    device.write(bar, offset, width, value);
  }

  @Override
  public int readConfiguration(int offset, int width) {
    return device.readConfiguration(offset, width);
  }

  @Override
  public void writeConfiguration(int offset, int width, int value) {
    device.writeConfiguration(offset, width, value);
  }

  @Override
  public int interruptVectors() {
    return device.interruptVectors();
  }

  @Override
  public boolean isInline() {
    return device.isInline();
  }

  @Override
  public boolean canReset() {
    return device.canReset();
  }

  @Override
  public void reset() {
    device.reset();
  }

  @Override
  public void close() {
    device.close();
  }
}
