package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.TearDown;

/** A benchmark on a {@link Rig}. */
public abstract class RigPath extends TimedPath {
  /** A subclass opens it before the trial. */
  Rig rig;

  @TearDown(Level.Trial)
  public void close() {
    rig.close();
  }
}
