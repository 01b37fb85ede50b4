package org.hghca.virtio.driver;

import org.hghca.verbs.Context;
import org.hghca.virtio.NetworkDevice;

/** A context of a virtio-net device with RoCE queues, with what the verbs do not report. */
public interface VirtioContext extends Context {

  /** The network device, as it is now. */
  NetworkDevice network();

  /** What it says of RoCE. */
  RoceInformation information();
}
