package org.hghca.programs.perf.page;

import java.util.Map;
import org.hghca.verbs.Context;

/** What the verbs do not report of a device, and a reader needs to measure again: a service. */
public interface DeviceFacts {
  /** Facts by name; empty when there are none of this device. */
  Map<String, String> of(Context device);
}
