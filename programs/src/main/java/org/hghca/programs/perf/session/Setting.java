package org.hghca.programs.perf.session;

import java.util.ArrayList;
import java.util.List;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.run.Resources;
import org.hghca.verbs.Mtu;

/**
 * A setting of a run that perftest prints in a line of its own, and has in its JSON.
 *
 * @param label as it is printed
 * @param value a text or a number
 * @param unit behind the value in the line, {@code ""} for none
 */
record Setting(String label, Object value, String unit) {
  Setting(String label, Object value) {
    this(label, value, "");
  }

  /** Those that a side has, in perftest's order. */
  static List<Setting> of(Parameters parameters, Resources resources, boolean client, Mtu mtu) {
    Parameters.Queues queues = parameters.queues();
    Verb verb = parameters.test().verb();
    List<Setting> settings = new ArrayList<>();
    if (client || queues.bidirectional()) {
      settings.add(new Setting("TX depth", queues.sendDepth()));
    }
    if (queues.postList() > 1) {
      settings.add(new Setting("Post List", queues.postList()));
    }
    if (verb == Verb.SEND && (!client || queues.bidirectional())) {
      settings.add(new Setting("RX depth", queues.receiveDepth()));
    }
    if (parameters.test().isBandwidth()) {
      settings.add(new Setting("CQ Moderation", queues.moderation()));
    }
    settings.add(new Setting("Mtu", mtu.bytes(), "[B]"));
    settings.add(new Setting("Link type", "Ethernet"));
    settings.add(new Setting("GID index", resources.device().gidIndex()));
    settings.add(
        verb.isRequest()
            ? new Setting("Outstand reads", resources.outstandingReads())
            : new Setting("Max inline data", resources.inline(), "[B]"));
    return settings;
  }

  String line() {
    return " %-16s: %s%s".formatted(label, value, unit);
  }

  /** Its name in the JSON. */
  String key() {
    return label.replace(' ', '_');
  }
}
