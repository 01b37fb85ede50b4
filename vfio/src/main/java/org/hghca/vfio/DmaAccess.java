package org.hghca.vfio;

/** The access rights of a device to mapped memory. */
public enum DmaAccess {
  READ(true, false),
  READ_WRITE(true, true);

  private final boolean readable;
  private final boolean writable;

  DmaAccess(boolean readable, boolean writable) {
    this.readable = readable;
    this.writable = writable;
  }

  public boolean readable() {
    return readable;
  }

  public boolean writable() {
    return writable;
  }
}
