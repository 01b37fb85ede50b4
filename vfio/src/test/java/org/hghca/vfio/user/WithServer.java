package org.hghca.vfio.user;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server of a device, and a client of it. */
abstract class WithServer {
  @TempDir Path directory;
  Served served;
  RawClient client;

  /** The client, which has agreed on the version unless a test is of that. */
  RawClient open(String socket) {
    return RawClient.greeted(socket);
  }

  @BeforeEach
  void serve() {
    served = new Served(directory);
    client = open(served.path);
  }

  @AfterEach
  void close() {
    client.close();
    served.close();
  }
}
