package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Posting sends to a virtio device alone: between two batches of 128, outside the measured time,
 * they are completed and polled. One operation is one request.
 */
public class VirtioPosting extends Posts {
  /** Whether the device wants a notification of no post, or of each. */
  @Param({Rig.VIRTIO, Rig.VIRTIO_KICKED})
  public String device;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, hasSingleOwner(), device);
  }
}
