package org.hghca.provider;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Flight Recorder's view of the end of a device; the stack is that of the thread that detected it.
 */
@Name("hghca.DeviceFatal")
@Label("HCA Fatal Error")
@Category("HGHCA")
@Description("A device has failed and must be closed and opened again")
@StackTrace(true)
@SuppressWarnings("unused")
final class DeviceFatalEvent extends Event {
  @Label("Device")
  String device;

  @Label("Cause")
  String cause;
}
