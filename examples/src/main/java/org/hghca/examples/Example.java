package org.hghca.examples;

import java.util.Set;
import org.hghca.verbs.DeviceFeature;

/** A program with two ends, which run in one process or on two machines. */
interface Example {

  /** What it shows, for the list of programs. */
  String shows();

  /** What both devices must have. */
  default Set<DeviceFeature> needs() {
    return Set.of();
  }

  /** The end that waits for the other one. It ends when the client has been served. */
  void server(End end) throws Exception;

  /** The end that begins. */
  void client(End end) throws Exception;
}
