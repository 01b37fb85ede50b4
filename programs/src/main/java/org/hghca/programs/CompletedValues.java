package org.hghca.programs;

import java.util.Iterator;
import java.util.List;

/** Values of options that a shell completes. */
public final class CompletedValues {
  /** In place of the devices of a machine, which a shell asks for. */
  public static final String DEVICES = "%devices%";

  /** In place of the steps of a session, which a shell asks for. */
  public static final String STEPS = "%steps%";

  private CompletedValues() {}

  /** Devices that are there. */
  public static final class Devices implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return List.of(DEVICES).iterator();
    }
  }

  /** Steps of {@code bringup}. */
  public static final class Steps implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return List.of(STEPS).iterator();
    }
  }

  /** Profiles of the card. */
  public static final class Profiles implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return List.of("s", "r1", "r2").iterator();
    }
  }
}
