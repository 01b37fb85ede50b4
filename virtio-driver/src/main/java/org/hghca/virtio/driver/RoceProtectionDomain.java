package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.hghca.provider.RegionMemory;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.srq.SoftwareSrq;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.MemoryWindow;
import org.hghca.verbs.MemoryWindowType;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.virtio.abi.roce.RoceCommand;

/** A protection domain. */
final class RoceProtectionDomain extends Resource implements ProtectionDomain {
  private static final Set<AccessFlag> UNSUPPORTED =
      EnumSet.of(AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND, AccessFlag.ON_DEMAND);

  private final RoceContext context;
  private final int number;

  RoceProtectionDomain(RoceContext context) {
    super(context);
    this.context = context;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      this.number = device().commands().create(RoceCommand.CREATE_PD, "another protection domain");
      publish();
      undo.forget();
    }
  }

  int number() {
    return number;
  }

  RoceDevice device() {
    return context.roce();
  }

  @Override
  public String describe() {
    return "PD 0x%x".formatted(number);
  }

  @Override
  public RoceContext context() {
    return context;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
    return new RoceMemoryRegion(this, memory, access);
  }

  @Override
  public MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
    check(access);
    try (Undo undo = new Undo()) {
      BufferPool.Buffer buffer = device().buffers().allocate(bytes);
      undo.add(buffer::close);
      MemoryRegion region = new RoceMemoryRegion(this, buffer, access);
      undo.forget();
      return region;
    } catch (RuntimeException e) {
      throw Refusals.of("cannot allocate memory", e);
    }
  }

  /** Whether memory with some rights can be registered in this domain now. */
  void check(Set<AccessFlag> access) {
    checkAlive();
    RegionMemory.check(access, UNSUPPORTED);
  }

  private void checkAlive() {
    checkOpen();
    device().health().check();
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    checkAlive();
    return new RoceAddressHandle(this, vector);
  }

  @Override
  public AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment grh, int port) {
    checkOpen();
    return createAddressHandle(context.port().wayBack(completions, index, grh, port));
  }

  @Override
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    throw new VerbsException(
        Errno.EOPNOTSUPP, "memory windows of %s: the device has none".formatted(type));
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config) {
    checkAlive();
    return new SoftwareSrq(this, context, config);
  }

  @Override
  public QueuePair createQueuePair(QueuePairConfig config) {
    checkAlive();
    return new RoceQueuePair(this, config);
  }

  @Override
  protected void release() {
    device()
        .deferredFree()
        .retire(
            describe(),
            () -> device().commands().destroy(RoceCommand.DESTROY_PD, number, "the end of its PD"),
            () -> {},
            () -> {});
  }
}
