package org.hghca.conformance.interop;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs the tests of a class with each kind of software device. */
final class EachCard implements ClassTemplateInvocationContextProvider {
  @Override
  public boolean supportsClassTemplate(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<ClassTemplateInvocationContext> provideClassTemplateInvocationContexts(
      ExtensionContext context) {
    return Arrays.stream(Card.values()).map(With::new);
  }

  private record With(Card card) implements ClassTemplateInvocationContext {
    @Override
    public String getDisplayName(int index) {
      return card.toString();
    }

    @Override
    public void prepareInvocation(ExtensionContext context) {
      SoftRoce.use(card, context);
    }
  }
}
