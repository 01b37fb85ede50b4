package org.hghca.driver.object;

import java.util.Optional;
import java.util.OptionalLong;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.ring.ReceiveChecks;
import org.hghca.driver.rtl.RtlSupport;
import org.hghca.driver.rtl.WrapPages;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.verbs.VerbsException;

/**
 * What the driver does for all objects of a device that its card does not do by itself: one
 * subclass for cards that follow the document, one for the makers' RTL. Thread-safe.
 */
public abstract class CardSupport {

  /** Registers the memory that it needs; part of the bring-up. */
  public abstract void open();

  /** Starts its thread; the last step of the bring-up. */
  public abstract void start();

  /** Ends its thread; the first step of the shutdown. */
  public abstract void stop();

  /** Releases its memory. */
  public abstract void close();

  /** Requests may name memory from here on. */
  public abstract void admit(KeyTable.Entry entry);

  /**
   * Requests may no longer name memory.
   *
   * @throws VerbsException EBUSY when an outstanding request names it; nothing has changed
   */
  public abstract void withdraw(KeyTable.Entry entry);

  /** The key for the element of a receive without memory; 0 if none is needed. */
  public abstract int fillerKey();

  /** The packets before the last PSN of the queue pair that ends there next; empty for none. */
  public abstract OptionalLong psnsLeft();

  /** How often READs carried a queue pair over the PSN wrap. */
  public abstract long carriedWraps();

  /** Number of READs that did. */
  public abstract long carryingReads();

  /**
   * The keys of a protection domain for the PSN wrap; empty where queue pairs need none.
   *
   * @param pd its number
   */
  public abstract Optional<WrapPages.Keys> wrapKeys(int pd);

  /**
   * The checks of receives of a queue pair.
   *
   * @param pd its protection domain
   * @param bytesBefore bytes of its receives that the card does not get
   */
  public abstract ReceiveChecks receiveChecks(int pd, int bytesBefore);

  /**
   * The parser of a completion queue.
   *
   * @param queue its name, for messages
   */
  public abstract CompletionParser parser(String queue, CompletionRing ring);

  /**
   * That of the makers' RTL.
   *
   * @throws IllegalStateException on another card
   */
  public abstract RtlSupport rtl();
}
