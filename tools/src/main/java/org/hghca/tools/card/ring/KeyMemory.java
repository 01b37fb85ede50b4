package org.hghca.tools.card.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.tools.raw.CardHistory;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.MappedMemory;
import org.hghca.tools.raw.SentContexts;
import org.hghca.tools.raw.TappedFunction;

/** The memory behind a key, by what was sent: MPT entry, MTT entries, pages that are mapped. */
public final class KeyMemory {
  /** The driver and the steps change the other 8 bits with each use of an entry. */
  private static final int KEY_INDEX_BITS = 24;

  private final CardHistory history;
  private final MappedMemory mapped;
  private final HardwareProfile profile;

  /** Of a card that this profile describes. */
  public KeyMemory(TappedFunction function, HardwareProfile profile) {
    this(function.history(), function.mapped(), profile);
  }

  /**
   * Of a card that was given what a history holds.
   *
   * @param mapped the memory that the card can reach
   */
  public KeyMemory(CardHistory history, MappedMemory mapped, HardwareProfile profile) {
    this.history = history;
    this.mapped = mapped;
    this.profile = profile;
  }

  /**
   * A part of the memory.
   *
   * @param copy of its bytes; empty when they cannot be found
   * @param busAddress of its first page; empty when that was not sent
   * @param problems what is inconsistent, one a line
   */
  public record Piece(
      Optional<MemorySegment> copy, OptionalLong busAddress, List<String> problems) {}

  /** The MPT entry that a key names, as it was sent last. */
  public Optional<Mpt> entry(int key) {
    return sent(key).flatMap(SentContexts.Sent::wholeContext).map(Mpt::decode);
  }

  private Optional<SentContexts.Sent> sent(int key) {
    return history.sent().of(CardObject.MPT, index(key));
  }

  /** The number of the MPT entry that a key names. */
  public int index(int key) {
    int bits = profile.keyIndexBits();
    return key & (1 << (bits == 0 ? KEY_INDEX_BITS : bits)) - 1;
  }

  private String name(int key) {
    return "key 0x%08x, MPT %d".formatted(key, index(key));
  }

  /**
   * What keeps a user from the use of a key.
   *
   * @param pd the user's
   */
  public List<String> entryProblems(int key, int pd) {
    String name = name(key);
    Optional<SentContexts.Sent> sent = sent(key);
    Optional<Mpt> entry = entry(key);
    if (entry.isEmpty()) {
      return List.of(name + ": was not sent");
    }
    Mpt mpt = entry.get();
    List<String> problems = new ArrayList<>();
    if (!sent.orElseThrow().isInForce()) {
      problems.add("%s: was taken back by %s".formatted(name, sent.get().command()));
    }
    if (mpt.key() != key) {
      problems.add("%s: was sent with the key 0x%08x".formatted(name, mpt.key()));
    }
    if (mpt.pd() != pd) {
      problems.add("%s: is of PD %d, its user of PD %d".formatted(name, mpt.pd(), pd));
    }
    return problems;
  }

  /**
   * What keeps a user from the use of memory behind a key.
   *
   * @param pd the user's
   * @param start the first address in the region
   * @param bytes from there
   */
  public List<String> problems(int key, int pd, long start, long bytes) {
    List<String> problems = new ArrayList<>(entryProblems(key, pd));
    Optional<Mpt> entry = entry(key);
    if (entry.isPresent()) {
      Mpt mpt = entry.get();
      long at = start - mpt.start();
      if (at < 0 || bytes > mpt.length() - at) {
        problems.add(
            "%s: has %d bytes at 0x%x, its user needs %d at 0x%x"
                .formatted(name(key), mpt.length(), mpt.start(), bytes, start));
      }
    }
    return problems;
  }

  /** The first MTT entry that a region needs and that was not sent. */
  public OptionalLong firstUntranslated(Mpt mpt) {
    for (long at = 0; at < mpt.length(); at += pageBytes(mpt)) {
      if (page(mpt, at).isEmpty()) {
        return OptionalLong.of(mttIndex(mpt, at));
      }
    }
    return OptionalLong.empty();
  }

  /**
   * The bus address of a byte; empty when it was not sent.
   *
   * @param offset in the region of a key
   */
  public OptionalLong address(int key, long offset) {
    Optional<Mpt> entry = entry(key);
    if (entry.isEmpty()) {
      return OptionalLong.empty();
    }
    OptionalLong page = page(entry.get(), offset);
    return page.isEmpty()
        ? page
        : OptionalLong.of(page.getAsLong() + offset % pageBytes(entry.get()));
  }

  /**
   * The memory of a ring.
   *
   * @param pd of the queue
   * @param offset of the ring in its region
   * @param bytes at least 1
   */
  public Piece find(int key, int pd, long offset, long bytes) {
    Optional<Mpt> entry = entry(key);
    long start = entry.map(Mpt::start).orElse(0L);
    List<String> problems = new ArrayList<>(problems(key, pd, start + offset, bytes));
    if (entry.isEmpty()) {
      return new Piece(Optional.empty(), OptionalLong.empty(), problems);
    }
    MemorySegment copy = Arena.ofAuto().allocate(bytes, MapIcm.PAGE_SIZE);
    OptionalLong first = page(entry.get(), offset);
    for (long done = 0; done < bytes; ) {
      long at = offset + done;
      int count = (int) Math.min(bytes - done, MapIcm.PAGE_SIZE - at % MapIcm.PAGE_SIZE);
      OptionalLong page = page(entry.get(), at);
      if (page.isEmpty()) {
        problems.add("MTT entry %d was not sent".formatted(mttIndex(entry.get(), at)));
        return new Piece(Optional.empty(), first, problems);
      }
      long address = page.getAsLong() + at % pageBytes(entry.get());
      Optional<MemorySegment> memory = mapped.at(address, count);
      if (memory.isEmpty()) {
        problems.add(
            "bus address 0x%x of MTT entry %d is not memory that is mapped"
                .formatted(address, mttIndex(entry.get(), at)));
        return new Piece(Optional.empty(), first, problems);
      }
      MemorySegment.copy(memory.get(), 0, copy, done, count);
      done += count;
    }
    return new Piece(Optional.of(copy), first, problems);
  }

  private OptionalLong page(Mpt mpt, long offset) {
    return history.translations().page(mttIndex(mpt, offset));
  }

  private long mttIndex(Mpt mpt, long offset) {
    return mpt.mttSegment() + offset / pageBytes(mpt);
  }

  /** The RTL ignores the size. */
  private long pageBytes(Mpt mpt) {
    return profile == HardwareProfile.S
        ? (long) MapIcm.PAGE_SIZE << (mpt.pageSize() & 0x1f)
        : MapIcm.PAGE_SIZE;
  }
}
