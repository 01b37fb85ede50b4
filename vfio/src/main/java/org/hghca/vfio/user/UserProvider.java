package org.hghca.vfio.user;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.linux.HostCalls;

/**
 * Functions that another process serves over a UNIX socket, by the vfio-user protocol: {@code
 * vfio-user:/path/of/the.sock}. There is no list of such sockets, so none is discovered.
 *
 * <p>{@code timeout=PT10S} of the locator is how long the server may take for a reply. Registers
 * are written without asking for one; {@code posted=false} has each write wait for it. They go
 * through memory that a server of this project shares; {@code ring=false} makes each a message.
 */
public final class UserProvider implements PciFunctionProvider {

  public UserProvider() {}

  @Override
  public String scheme() {
    return "vfio-user";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    return UserFunction.open(HostCalls.system(), locator);
  }
}
