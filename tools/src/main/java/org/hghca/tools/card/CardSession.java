package org.hghca.tools.card;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.mailbox.HcrProbe;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.launch.Nearest;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.VfioException;

/**
 * A card that is opened, and the lines that are given to it. No line and no behaviour of the card
 * makes {@link #execute} throw, and it always returns. One thread at a time.
 */
public final class CardSession implements AutoCloseable {
  private static final Map<String, String> HELP = new LinkedHashMap<>();

  static {
    HELP.put("help", "prints this");
    HELP.put("quit", "gives the card back, and ends; so does the end of the input");
    HELP.put("cfg", Configuration.USAGE + ": configuration space by names");
    HELP.put("probe", "searches the HCR, at 0h first, and names the profile");
    HELP.put("init", "reset, QUERY_DEV_LIM, INIT_HCA, MAP_ICM");
    HELP.put("hcr", HcrLine.USAGE + ": gives one command");
    HELP.put("reg", Registers.USAGE + ": one access to a register");
    HELP.put(
        "dump",
        Dump.USAGE
            + ": a context, as it was sent and as the card has it; "
            + RingDump.USAGE
            + ": a queue in memory");
  }

  private final Card card;
  private final CardThread thread;
  private boolean quit;

  private CardSession(Card card, CardThread thread) {
    this.card = card;
    this.thread = thread;
  }

  /**
   * Opens a card. Only its PCI function is taken; none of its registers is accessed.
   *
   * @throws VfioException when that fails; the message names the fix
   * @throws CardStoppedException when it does not return
   */
  public static CardSession open(CardOptions options) {
    CardThread thread = new CardThread(options.patience());
    AtomicReference<Card> card = new AtomicReference<>();
    try {
      thread.run(() -> card.set(Card.open(options)));
    } finally {
      if (card.get() == null) {
        thread.end(() -> Optional.ofNullable(card.get()).ifPresent(Card::close));
      }
    }
    if (card.get() == null) {
      throw new CardStoppedException("the open of %s was interrupted".formatted(options.locator()));
    }
    return new CardSession(card.get(), thread);
  }

  /** A session on a card that is open; what it does ends with the session, the card stays open. */
  public static CardSession of(KeptCard left) {
    return new CardSession(Card.of(left), new CardThread(left.options().patience()));
  }

  /** Whether there is nothing more to do: it was left, interrupted, or an access is lost. */
  public boolean hasEnded() {
    return quit || thread.isLost() || thread.isInterrupted();
  }

  /** Whether the calling thread was interrupted while the card worked. */
  public boolean isInterrupted() {
    return thread.isInterrupted();
  }

  /** The calling thread was interrupted while it waited for a line. */
  public void interrupt() {
    thread.interrupt();
  }

  /** Does what a line says; empty for a line without words. */
  public Optional<Reply> execute(String line) {
    Words words;
    try {
      words = Words.of(line);
    } catch (RequestFailedException e) {
      return Optional.of(new Reply(line.strip(), new Fields(), e.getMessage(), false));
    }
    if (words.isEmpty()) {
      return Optional.empty();
    }
    Fields fields = new Fields();
    String error = "";
    boolean stopped = false;
    try {
      execute(words, fields);
    } catch (RuntimeException e) {
      error = complaint(e);
      stopped = isStop(e);
    }
    return Optional.of(
        new Reply(line.strip(), thread.isLost() ? new Fields() : fields, error, stopped));
  }

  private static boolean isStop(RuntimeException e) {
    return CardStoppedException.isBehind(e)
        || e instanceof VfioException gone && gone.reason() == VfioException.Reason.CLOSED;
  }

  private static String complaint(RuntimeException e) {
    String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    boolean known =
        e.getClass().getName().startsWith("org.hghca.")
            || e instanceof IllegalArgumentException
            || e instanceof IllegalStateException;
    return (known ? message : "internal error: " + message).replaceAll("\\s*\\R\\s*", " ");
  }

  private void execute(Words words, Fields reply) {
    String name = words.next().toLowerCase(Locale.ROOT);
    switch (name) {
      case "help" -> {
        words.end("help takes nothing");
        HELP.forEach(reply::put);
      }
      case "quit" -> {
        words.end("quit takes nothing");
        quit = true;
      }
      case "cfg" -> thread.run(() -> new Configuration(card).run(words, reply));
      case "probe" -> {
        words.end("probe takes nothing");
        thread.run(() -> probe(reply));
      }
      case "init" -> {
        words.end("init takes nothing");
        thread.run(() -> new Initialization(card).run(reply));
      }
      case "hcr" -> {
        HcrLine line = HcrLine.of(words);
        thread.run(() -> new HcrRun(card).run(line, reply));
      }
      case "reg" -> thread.run(() -> new Registers(card).run(words, reply));
      case "dump" -> thread.run(() -> new Dump(card).run(words, reply));
      default ->
          throw new RequestFailedException(
              "there is no command '%s': the nearest is %s; help lists them"
                  .formatted(name, Nearest.of(name, HELP.keySet())));
    }
  }

  private void probe(Fields reply) {
    List<HcrProbe> all = card.probe();
    reply.put(
        "probes",
        all.stream()
            .map(
                probe ->
                    new Fields()
                        .put("offset", Shown.hex(probe.base(), 5))
                        .put("finding", probe.finding().name())
                        .put("text", probe.describe()))
            .toList());
    reply.put("hcr", Shown.hex(all.getLast().base(), 5));
    reply.put("profile", card.profileName());
  }

  /** Gives the card back: without bus mastering, and reset if it can be reset. */
  @Override
  public void close() {
    try {
      thread.end(card::close);
    } catch (RuntimeException e) {
      // A card that is gone cannot be stopped; its function is closed.
    }
  }
}
