package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;

/** Registered memory of an application. */
final class HghcaMemoryRegion extends Resource implements MemoryRegion {
  /** LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC: the same bits in table 3-2-19. */
  private static final int ACCESS_BITS = 0xf;

  private final HghcaProtectionDomain pd;
  private final MemorySegment memory;
  private final Set<AccessFlag> access;
  private final Registrar.Registration registration;

  /**
   * Registers memory.
   *
   * @param freeMemory is done when the card can no longer reach the memory
   */
  HghcaMemoryRegion(
      HghcaProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access, Runnable freeMemory) {
    super(pd);
    this.pd = pd;
    this.memory = memory;
    this.access = Set.copyOf(access);
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      DmaMapping mapping =
          pd.device()
              .function()
              .map(
                  memory,
                  access.contains(AccessFlag.LOCAL_WRITE) ? DmaAccess.READ_WRITE : DmaAccess.READ);
      undo.add(mapping::close);
      this.registration =
          pd.device()
              .registrar()
              .registerUser(
                  mapping, freeMemory, pd.number(), AccessFlag.bits(access) & ACCESS_BITS);
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot register %d bytes".formatted(memory.byteSize()), e);
    }
  }

  @Override
  String describe() {
    // Its domain tells of it also while it is being made.
    return registration == null ? "a new MR" : "MR 0x%08x".formatted(registration.key());
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public MemorySegment segment() {
    return memory;
  }

  @Override
  public long address() {
    return memory.address();
  }

  @Override
  public long length() {
    return memory.byteSize();
  }

  @Override
  public int lkey() {
    return registration.key();
  }

  @Override
  public int rkey() {
    return registration.key();
  }

  @Override
  public Set<AccessFlag> access() {
    return access;
  }

  @Override
  public void reregister(Reregistration changes) {
    throw new VerbsException(Errno.EOPNOTSUPP, "re-registration is not supported");
  }

  @Override
  void release() {
    registration.close();
  }
}
