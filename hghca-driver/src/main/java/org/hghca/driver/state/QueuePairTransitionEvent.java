package org.hghca.driver.state;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Flight Recorder's view of a modification of a queue pair. */
@Name("hghca.QueuePairTransition")
@Label("HCA Queue Pair Transition")
@Category("HGHCA")
@Description("A form of MODIFY_QP")
@SuppressWarnings("unused")
final class QueuePairTransitionEvent extends Event {
  @Label("QP Number")
  int qpn;

  @Label("Type")
  String type;

  @Label("From")
  String from;

  @Label("To")
  String to;

  @Label("Command")
  String command;
}
