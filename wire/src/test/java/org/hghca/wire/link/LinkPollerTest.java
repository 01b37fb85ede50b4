package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread for all links, while there are any. */
@Timeout(60)
final class LinkPollerTest {
  private static final String NAME = "hghca-links";
  private static final LinkOptions OPTIONS = new LinkOptions(0, 0, OptionalInt.empty(), 1);

  private static List<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("hghca"))
        .toList();
  }

  private static int descriptors() {
    String[] open = new java.io.File("/proc/self/fd").list();
    return open.length;
  }

  @Test
  void aHundredLinksHaveOneThreadAndLeaveNothing() throws InterruptedException {
    awaitNoThread();
    List<LinkPoller.Attachment> attachments = new ArrayList<>();
    List<Link> links = new ArrayList<>();
    attachments.add(attach(links, 0, new CountDownLatch(0)));
    attachments.remove(0).close();
    awaitNoThread();
    int before = descriptors();
    CountDownLatch latch = new CountDownLatch(100);
    for (int i = 0; i < 100; i++) {
      attachments.add(attach(links, i, latch));
    }
    assertThat(threads()).singleElement().extracting(Thread::getName).isEqualTo(NAME);
    assertThat(threads().get(0).isDaemon()).isTrue();
    for (int i = 1; i <= 100; i++) {
      sendTo(links.get(1), i - 1);
    }
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    attachments.forEach(LinkPoller.Attachment::close);
    awaitNoThread();
    assertThat(descriptors()).isEqualTo(before);
  }

  private static LinkPoller.Attachment attach(List<Link> links, int i, CountDownLatch latch) {
    Link link = Links.open("udp:127.0.1." + (i + 1), OPTIONS);
    links.add(link);
    return LinkPoller.shared().add(link, batch -> latch.countDown());
  }

  private static void sendTo(Link link, int i) {
    Packet packet = new PacketPool().take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.destinationIpv4(0x7f00_0101 + i);
    link.send(packet);
    link.flush();
  }

  @Test
  void aUserThatFailsIsCalledAgain() throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(2);
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    LinkPoller.Attachment attachment =
        LinkPoller.shared()
            .add(
                link,
                batch -> {
                  latch.countDown();
                  if (latch.getCount() == 1) {
                    throw new IllegalStateException("the test's");
                  }
                });
    sendTo(link, 0);
    while (latch.getCount() == 2) {
      Thread.onSpinWait();
    }
    sendTo(link, 0);
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    attachment.close();
  }

  @Test
  void aUserMayCloseItsOwnLink() throws InterruptedException {
    LinkPoller.Attachment[] own = new LinkPoller.Attachment[1];
    CountDownLatch attached = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    own[0] =
        LinkPoller.shared()
            .add(
                link,
                batch -> {
                  try {
                    attached.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  own[0].close();
                  closed.countDown();
                });
    attached.countDown();
    sendTo(link, 0);
    assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
    Links.open("udp:127.0.1.1", OPTIONS).close();
    awaitNoThread();
  }

  private static void awaitNoThread() throws InterruptedException {
    for (Thread thread : threads()) {
      thread.join(TimeUnit.SECONDS.toMillis(20));
      assertThat(thread.isAlive()).isFalse();
    }
  }
}
