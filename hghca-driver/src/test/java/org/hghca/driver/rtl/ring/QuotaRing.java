package org.hghca.driver.rtl.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.DataUnit;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.ring.DoorbellOnlyFunction;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendWriter;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarAllocator;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.direct.RingMemory;

/** A send ring of the first RTL without the card: its doorbells are recorded. */
public final class QuotaRing {
  static final long SLOT = 128;
  static final int SLOTS = 64;
  static final int PD = 3;

  /** Memory with all access rights. */
  static final KeyedMemory MEMORY = new KeyedMemory(0x0100_0005, PD, 0x7f00_0000_0000L, 1 << 20, 7);

  /** Read-only memory. */
  static final KeyedMemory READ_ONLY =
      new KeyedMemory(0x0100_0006, PD, 0x7e00_0000_0000L, 1 << 20, 0);

  static final KeyedMemory FOREIGN =
      new KeyedMemory(0x0100_0007, PD + 1, 0x7d00_0000_0000L, 1 << 20, 7);

  /** Beyond page ends; of another card. */
  static final long REMOTE = 0x6000_0000_0000L;

  static final int RKEY = 0x21;
  static final KeyTable KEYS = new KeyTable(16);

  static {
    KEYS.put(MEMORY);
    KEYS.put(READ_ONLY);
    KEYS.put(FOREIGN);
  }

  final MemorySegment memory = Arena.ofAuto().allocate(SLOTS * SLOT, 4096);
  final List<Long> doorbells = new ArrayList<>();
  final SendChecks checks =
      new SendChecks(new RequestMemory(KEYS, PD), qpn -> SendChecks.UNKNOWN, 512);
  final SpinLock lock = new SpinLock(LockRank.SENDS);
  final QuotaSendRing ring;
  private final Completions completions = new Completions(1);

  QuotaRing(QpType type, DoorbellQuota inFlight) {
    this(type, HardwareProfile.R1, inFlight);
  }

  QuotaRing(QpType type, HardwareProfile profile, DoorbellQuota inFlight) {
    checks.path(10);
    RingShape shape = new RingShape(RingMemory.guarded(memory), 2, SLOTS, SLOTS, 7);
    ring =
        new QuotaSendRing(
            shape,
            new SendWriter(
                type, profile, null, shape, new QueuePairCapabilities(0, 0, 4, 0, 60), true),
            UarAllocator.open(new DoorbellOnlyFunction(doorbells)).allocate(),
            lock,
            () -> new BadRequestException(Errno.EINVAL, 0, "not open"),
            checks,
            inFlight);
    ring.setOpen(() -> true);
  }

  /** The doorbell budget of a card of its own. */
  public static DoorbellQuota inFlight(int window) {
    return new DoorbellQuota(HardwareProfile.R1, window, HardwareProfile.R1.requestsInFlight());
  }

  static SendRequest request() {
    return new SendRequest();
  }

  /** A valid request. */
  static SendRequest good() {
    return write(8);
  }

  static SendRequest write(int bytes) {
    return request().rdmaWrite(REMOTE, RKEY).sge(MEMORY.start(), bytes, MEMORY.key());
  }

  static SendRequest read(int bytes) {
    return request().rdmaRead(REMOTE, RKEY).sge(MEMORY.start(), bytes, MEMORY.key());
  }

  static int writable() {
    return AccessFlag.LOCAL_WRITE.bit();
  }

  /** Posts some valid requests. */
  void post(int count) {
    for (int i = 0; i < count; i++) {
      ring.post(good());
    }
  }

  /** The card completes the oldest request. */
  Completions complete() {
    ring.complete(completions, 0, 0, 0, 8);
    return completions;
  }

  /** The card completes the oldest request, and the poller rings what the ring holds. */
  void completeAndRing() {
    complete();
    ring.ringHeld();
  }

  /** The data units in a slot: distance from the first remote address, local address, length. */
  List<String> units(int slot) {
    long at = slot * SLOT;
    long remote = RemoteAddressUnit.address(memory, at + 16) - REMOTE - 4096;
    List<String> units = new ArrayList<>();
    for (int unit = 2; unit < NextUnit.size16(memory, at); unit++) {
      units.add(
          "%d %d+%d"
              .formatted(
                  remote,
                  DataUnit.address(memory, at + 16L * unit) - MEMORY.start(),
                  DataUnit.byteCount(memory, at + 16L * unit)));
    }
    return units;
  }

  /** The ring positions that the doorbells name, in order. */
  List<Integer> rungSlots() {
    return doorbells.stream()
        .map(doorbell -> (int) (doorbell >>> 8 & 0xffff) * 16 / (int) SLOT)
        .toList();
  }
}
