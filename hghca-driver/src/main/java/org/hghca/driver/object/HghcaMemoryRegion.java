package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.memory.Registrar;
import org.hghca.provider.Failures;
import org.hghca.provider.Undo;
import org.hghca.provider.object.AbstractMemoryRegion;
import org.hghca.provider.object.RegionMemory;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.memory.BufferPool;

/** Registered memory of an application. */
final class HghcaMemoryRegion extends AbstractMemoryRegion {
  /** The access rights of the card: the same bits in table 3-2-19. */
  private static final int CARD_BITS =
      AccessFlag.LOCAL_WRITE.bit()
          | AccessFlag.REMOTE_WRITE.bit()
          | AccessFlag.REMOTE_READ.bit()
          | AccessFlag.REMOTE_ATOMIC.bit()
          | AccessFlag.ZERO_BASED.bit();

  /** The registered memory; replaced as a whole, so that no thread sees a partial change. */
  private record Subject(HghcaProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access) {
    int cardBits() {
      return AccessFlag.bits(access) & CARD_BITS;
    }

    /** The address of the first byte. */
    long start() {
      return AbstractMemoryRegion.start(memory, access);
    }

    KeyedMemory entry(int key) {
      return new KeyedMemory(key, pd.number(), start(), memory.byteSize(), AccessFlag.bits(access));
    }

    /** Checks that the lower layers do not perform. */
    void check() {
      pd.check(access);
      RegionMemory.check(memory, access);
    }
  }

  private final Registrar.Registration registration;

  private final RegionMemory source;

  private Subject subject;

  /** Registers memory of the application. */
  HghcaMemoryRegion(HghcaProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access) {
    this(pd, memory, access, RegionMemory.ofApplication(pd.device().card().function()));
  }

  /** Registers a buffer, which the region owns unless this throws. */
  HghcaMemoryRegion(HghcaProtectionDomain pd, BufferPool.Buffer buffer, Set<AccessFlag> access) {
    this(pd, buffer.segment(), access, RegionMemory.of(pd.device().card().function(), buffer));
  }

  private HghcaMemoryRegion(
      HghcaProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access, RegionMemory source) {
    super(pd);
    this.source = source;
    this.subject = new Subject(pd, memory, Set.copyOf(access));
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      subject.check();
      DmaMapping mapping = map(subject);
      undo.add(mapping::close);
      this.registration =
          pd.device()
              .registrar()
              .registerUser(
                  mapping, source::free, pd.number(), subject.cardBits(), subject.start());
      undo.forget();
      admit(subject);
      finish();
    } catch (RuntimeException e) {
      throw Failures.of("cannot register %d bytes".formatted(memory.byteSize()), e);
    }
  }

  /** Requests may name the memory from here on. */
  private void admit(Subject s) {
    s.pd.device().family().admit(s.entry(registration.key()));
  }

  /**
   * Requests may no longer name the memory.
   *
   * @throws VerbsException EBUSY while outstanding requests name it
   */
  private void withdraw(Subject s) {
    s.pd.device().family().withdraw(s.entry(registration.key()));
  }

  private DmaMapping map(Subject s) {
    return source.map(s.memory, dmaAccess(s.access));
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return subject.pd;
  }

  @Override
  public MemorySegment segment() {
    return subject.memory;
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
    return subject.access;
  }

  @Override
  public synchronized void reregister(Reregistration changes) {
    checkOpen();
    if (changes.memory().isEmpty()
        && changes.protectionDomain().isEmpty()
        && changes.access().isEmpty()) {
      throw new VerbsException(Errno.EINVAL, describe() + ": nothing to change");
    }
    Subject old = subject;
    Subject next =
        new Subject(
            changes.protectionDomain().map(domain -> domainOf(old, domain)).orElse(old.pd),
            changes.memory().orElse(old.memory),
            changes.access().orElse(old.access));
    next.check();
    try (Undo undo = new Undo()) {
      withdraw(old);
      undo.add(() -> admitAgain(old));
      if (next.pd != old.pd) {
        use(next.pd);
        undo.add(() -> useNoMore(next.pd));
      }
      registration.change(
          isMappedAlike(old, next) ? null : map(next),
          source.isOwn(next.memory) ? () -> {} : () -> source.end(describe()),
          next.pd.number(),
          next.cardBits(),
          next.start());
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot re-register " + describe(), e);
    }
    subject = next;
    admit(next);
    if (next.pd != old.pd) {
      useNoMore(old.pd);
    }
    if (!source.isOwn(next.memory)) {
      source.free();
    }
  }

  /** After a failed change: if the card has lost the memory, requests must not name it. */
  private void admitAgain(Subject s) {
    if (registration.isTaken()) {
      admit(s);
    }
  }

  private static HghcaProtectionDomain domainOf(Subject old, ProtectionDomain domain) {
    if (domain instanceof HghcaProtectionDomain other && other.context().equals(old.pd.context())) {
      return other;
    }
    throw new VerbsException(
        Errno.EINVAL, "the protection domain belongs to another context than the memory region");
  }

  private static boolean isMappedAlike(Subject one, Subject other) {
    return RegionMemory.isSame(one.memory, other.memory)
        && dmaAccess(one.access) == dmaAccess(other.access);
  }

  @Override
  protected void prepareRelease() {
    try (Undo undo = new Undo()) {
      withdraw(subject);
      undo.add(() -> admitAgain(subject));
      source.end(describe());
      undo.forget();
    }
  }

  @Override
  protected void deregister() {
    registration.close();
  }
}
