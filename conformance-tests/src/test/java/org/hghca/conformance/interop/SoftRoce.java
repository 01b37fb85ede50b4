package org.hghca.conformance.interop;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test a {@link Bench}, which closes behind it, or the guest and the kind of device that it
 * is to meet. The guest connects once; each test has a new software device on the same network.
 * Programs that a test has left running in the guest end with it.
 *
 * <p>The system properties are {@code hghca.lab.rxe}, a folder that the guest sees, {@code
 * hghca.lab.rxe.net}, the network as {@code net=} in a locator names it, and {@code
 * hghca.lab.rxe.tcp}, the port of this machine that forwards to port 18515 of the guest.
 */
final class SoftRoce implements ParameterResolver, AfterEachCallback {
  private static final Namespace NAMESPACE = Namespace.create(SoftRoce.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == GuestVerbs.class || type == Card.class || type == Bench.class;
  }

  /** The tests below a context use that kind of device. */
  static void use(Card card, ExtensionContext context) {
    context.getStore(NAMESPACE).put(Card.class, card);
  }

  private static Card card(ExtensionContext context) {
    return context.getStore(NAMESPACE).getOrDefault(Card.class, Card.class, Card.HCA);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    if (type == GuestVerbs.class) {
      return guest(context);
    }
    if (type == Card.class) {
      return card(context);
    }
    return context
        .getStore(NAMESPACE)
        .computeIfAbsent(Bench.class, key -> Bench.open(card(context), guest(context), ""));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    guest(context).endPrograms();
  }

  private static GuestVerbs guest(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent(
            GuestVerbs.class,
            key -> GuestVerbs.await(Path.of(System.getProperty("hghca.lab.rxe"))),
            GuestVerbs.class);
  }
}
