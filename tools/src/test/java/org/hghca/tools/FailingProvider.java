package org.hghca.tools;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.spi.RdmaProvider;

/** Devices that fail in one way each; they are not listed. */
public final class FailingProvider implements RdmaProvider {
  public static final String AT_OPEN = "fails-at-open";
  public static final String AT_QUERY = "fails-at-query";
  public static final String AT_CLOSE = "fails-at-close";
  static final String UNEXPECTEDLY = "fails-unexpectedly";

  @Override
  public List<RdmaDevice> devices() {
    return List.of();
  }

  @Override
  public Optional<Context> open(String name) {
    return switch (name) {
      case AT_OPEN -> throw new VerbsException(Errno.EACCES, "no permission");
      case AT_QUERY -> Optional.of(context(cardIsGone(), null));
      case AT_CLOSE -> Optional.of(context(cardIsGone(), cardIsGone()));
      case UNEXPECTEDLY -> Optional.of(context(new IllegalStateException("a bug"), null));
      default -> Optional.empty();
    };
  }

  private static VerbsException cardIsGone() {
    return new VerbsException(Errno.EIO, "the card is gone");
  }

  /**
   * A context of which nothing works except possibly closing.
   *
   * @param atClose null when that works
   */
  private static Context context(RuntimeException failure, RuntimeException atClose) {
    return (Context)
        Proxy.newProxyInstance(
            Context.class.getClassLoader(),
            new Class<?>[] {Context.class},
            (proxy, method, arguments) -> {
              boolean closing = method.getName().equals("close");
              if (closing && atClose == null) {
                return null;
              }
              throw closing ? atClose : failure;
            });
  }
}
