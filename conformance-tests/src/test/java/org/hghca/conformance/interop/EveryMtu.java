package org.hghca.conformance.interop;

import java.util.List;
import java.util.stream.Stream;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.verbs.Mtu;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Every path MTU, with the requests of either end. */
final class EveryMtu implements ArgumentsProvider {
  @Override
  public Stream<Arguments> provideArguments(
      ParameterDeclarations parameters, ExtensionContext context) {
    return Stream.of(Mtu.values())
        .flatMap(mtu -> Stream.of(Asker.values()).map(asker -> Arguments.of(mtu, asker)));
  }

  /** Sizes of messages around the limits of a packet, in bytes. */
  static List<Integer> sizes(Mtu mtu) {
    int packet = mtu.bytes();
    return List.of(0, 1, 3, 4, packet - 1, packet, packet + 1, 2 * packet, 5 * packet + 2);
  }
}
