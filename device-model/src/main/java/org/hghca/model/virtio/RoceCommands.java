package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.SplittableRandom;
import org.hghca.model.card.HostMemory;
import org.hghca.virtio.abi.net.NetControl;
import org.hghca.virtio.abi.roce.AddGid;
import org.hghca.virtio.abi.roce.CreateAh;
import org.hghca.virtio.abi.roce.CreateCq;
import org.hghca.virtio.abi.roce.DeleteGid;
import org.hghca.virtio.abi.roce.DestroyAh;
import org.hghca.virtio.abi.roce.Handle;
import org.hghca.virtio.abi.roce.ModifyQp;
import org.hghca.virtio.abi.roce.MrAccess;
import org.hghca.virtio.abi.roce.MrKeys;
import org.hghca.virtio.abi.roce.PathMtu;
import org.hghca.virtio.abi.roce.QpType;
import org.hghca.virtio.abi.roce.QueryDevice;
import org.hghca.virtio.abi.roce.QueryPort;
import org.hghca.virtio.abi.roce.QueryQp;
import org.hghca.virtio.abi.roce.RegisterUserMr;
import org.hghca.virtio.abi.roce.RequestNotify;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * The commands of the RoCE half: its objects, and the checks of what a driver asks for. A command
 * that is refused changes nothing, and its answer is zero but for the result. Used in steps.
 *
 * <p>A region over all bus addresses (GET_DMA_MR) is always refused: a driver of user space has no
 * use for it.
 */
final class RoceCommands {
  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LITTLE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int IPV6_HEADERS = 84;

  private final HostMemory host;
  private final int largestMtu;
  private final MemorySegment command = Arena.ofAuto().allocate(ModifyQp.SIZE, 8);
  private final MemorySegment answer =
      Arena.ofAuto().allocate(NetControl.ACK_SIZE + QueryDevice.SIZE, 8);
  private final SplittableRandom random = new SplittableRandom();

  private final RoceObjects objects;
  private final RoceTransport transport;

  /** Pages of all regions. */
  private long pages;

  /**
   * @param largestMtu code of the largest path MTU
   */
  RoceCommands(HostMemory host, RoceObjects objects, RoceTransport transport, int largestMtu) {
    this.host = host;
    this.objects = objects;
    this.transport = transport;
    this.largestMtu = largestMtu;
  }

  /**
   * The code of the largest path MTU whose packets fit, of IPv6 and with the longest headers.
   *
   * @param mtu bytes of the longest IP packet
   */
  static int largestMtu(int mtu) {
    int code = PathMtu.MTU_4096;
    while (code > PathMtu.MTU_256 && PathMtu.bytes(code) + IPV6_HEADERS > mtu) {
      code--;
    }
    return code;
  }

  void reset() {
    transport.reset();
    objects.clear();
    pages = 0;
  }

  /**
   * Executes a command.
   *
   * @param chain has at least a byte to write
   * @return the bytes that were written into the chain
   */
  int execute(int code, Chain chain) throws QueueException {
    RoceCommand known = RoceCommand.of(code).orElse(null);
    answer.fill((byte) 0);
    answer.set(ValueLayout.JAVA_BYTE, 0, (byte) NetControl.ERROR);
    int length = NetControl.ACK_SIZE;
    if (known != null
        && chain.writableBytes() >= length + known.ackSize()
        && chain.readableBytes() >= NetControl.HEADER_SIZE + known.dataSize()) {
      length += known.ackSize();
      command.fill((byte) 0);
      chain.read(host, NetControl.HEADER_SIZE, command, known.dataSize());
      MemorySegment data = answer.asSlice(NetControl.ACK_SIZE);
      transport.beforeCommand();
      if (execute(known, chain, data)) {
        answer.set(ValueLayout.JAVA_BYTE, 0, (byte) NetControl.OK);
      } else {
        data.fill((byte) 0);
      }
    }
    chain.write(host, 0, answer, length);
    return length;
  }

  private boolean execute(RoceCommand known, Chain chain, MemorySegment data)
      throws QueueException {
    int number = Handle.NUMBER.get(command, 0);
    return switch (known) {
      case QUERY_DEVICE -> queryDevice(data);
      case QUERY_PORT -> queryPort(data);
      case CREATE_CQ -> createCq(data);
      case DESTROY_CQ -> destroyCq(number);
      case CREATE_PD -> create(objects.domains, new RoceDomain(), data);
      case DESTROY_PD -> destroyPd(number);
      case GET_DMA_MR -> false;
      case REG_USER_MR -> registerMr(chain, data);
      case DEREG_MR -> deregisterMr(number);
      case CREATE_QP -> createQp(data);
      case MODIFY_QP -> modifyQp();
      case QUERY_QP -> queryQp(data);
      case DESTROY_QP -> destroyQp(number);
      case CREATE_AH -> createAh(data);
      case DESTROY_AH -> destroyAh();
      case ADD_GID -> addGid();
      case DEL_GID -> objects.gids.set(DeleteGid.INDEX.get(command, 0), 0, 0);
      case REQ_NOTIFY_CQ -> requestNotify();
    };
  }

  private static boolean queryDevice(MemorySegment data) {
    QueryDevice.DEVICE_CAP_FLAGS.setLong(data, 0, QueryDevice.RC_RNR_NAK_GEN);
    QueryDevice.MAX_MR_SIZE.setLong(data, 0, RoceLimits.REGION_BYTES);
    QueryDevice.PAGE_SIZE_CAP.setLong(data, 0, RegisterUserMr.PAGE_SIZE);
    QueryDevice.MAX_QP_WR.set(data, 0, RoceLimits.ENTRIES);
    QueryDevice.MAX_SEND_SGE.set(data, 0, RoceLimits.PIECES);
    QueryDevice.MAX_RECV_SGE.set(data, 0, RoceLimits.PIECES);
    QueryDevice.MAX_SGE_RD.set(data, 0, RoceLimits.PIECES);
    QueryDevice.MAX_CQE.set(data, 0, RoceLimits.COMPLETIONS);
    QueryDevice.MAX_MR.set(data, 0, RoceLimits.REGIONS);
    QueryDevice.MAX_PD.set(data, 0, RoceLimits.PDS);
    QueryDevice.MAX_QP_RD_ATOM.set(data, 0, RoceLimits.READS);
    QueryDevice.MAX_QP_INIT_RD_ATOM.set(data, 0, RoceLimits.READS);
    QueryDevice.MAX_AH.set(data, 0, RoceLimits.HANDLES);
    QueryDevice.LOCAL_CA_ACK_DELAY.set(data, 0, RoceLimits.ACK_DELAY);
    return true;
  }

  private static boolean queryPort(MemorySegment data) {
    QueryPort.GID_TBL_LEN.set(data, 0, RoceLimits.GIDS);
    QueryPort.MAX_MSG_SZ.setLong(data, 0, RoceLimits.MESSAGE_BYTES);
    return true;
  }

  /** Numbers an object, whose number is the answer. */
  private static <T> boolean create(Numbers<T> among, T object, MemorySegment data) {
    Optional<Integer> number = among.free();
    number.ifPresent(
        free -> {
          among.put(free, object);
          Handle.NUMBER.set(data, 0, free);
        });
    return number.isPresent();
  }

  private boolean createCq(MemorySegment data) {
    long entries = CreateCq.CQE.getLong(command, 0);
    return entries > 0
        && entries <= RoceLimits.COMPLETIONS
        && create(objects.completions, new RoceCompletionQueue((int) entries), data);
  }

  private boolean destroyCq(int cqn) {
    boolean unused = objects.completions.get(cqn).filter(queue -> queue.users == 0).isPresent();
    if (unused) {
      transport.completionsDestroyed(cqn);
      objects.completions.remove(cqn);
    }
    return unused;
  }

  private boolean destroyPd(int pdn) {
    boolean unused = objects.domains.get(pdn).filter(domain -> domain.users == 0).isPresent();
    if (unused) {
      objects.domains.remove(pdn);
    }
    return unused;
  }

  private boolean registerMr(Chain chain, MemorySegment data) throws QueueException {
    int pdn = RegisterUserMr.PDN.get(command, 0);
    int access = RegisterUserMr.ACCESS_FLAGS.get(command, 0);
    long start = RegisterUserMr.VIRT_ADDR.getLong(command, 0);
    long length = RegisterUserMr.LENGTH.getLong(command, 0);
    long count = RegisterUserMr.NPAGES.getLong(command, 0);
    Optional<RoceDomain> domain = objects.domains.get(pdn);
    Optional<Integer> mrn = objects.regions.free();
    int all = MrAccess.LOCAL_WRITE | MrAccess.REMOTE_WRITE | MrAccess.REMOTE_READ;
    if (domain.isEmpty()
        || mrn.isEmpty()
        || (access & ~all) != 0
        || length <= 0
        || length > RoceLimits.REGION_BYTES
        || Long.compareUnsigned(start + length - 1, start) < 0
        || count != RegisterUserMr.pages(start, length)
        || pages + count > RoceLimits.PAGES
        || chain.readableBytes() < NetControl.HEADER_SIZE + RegisterUserMr.page(count)) {
      return false;
    }
    long[] addresses = readPages(chain, (int) count);
    for (long address : addresses) {
      if (address % RegisterUserMr.PAGE_SIZE != 0) {
        return false;
      }
    }
    int key = RoceObjects.key(mrn.get(), random.nextInt());
    boolean remote = (access & (MrAccess.REMOTE_READ | MrAccess.REMOTE_WRITE)) != 0;
    objects.regions.put(
        mrn.get(), new RoceRegion(pdn, access, start, length, addresses, key, remote ? key : 0));
    domain.get().users++;
    pages += count;
    MrKeys.MRN.set(data, 0, mrn.get());
    MrKeys.LKEY.set(data, 0, key);
    MrKeys.RKEY.set(data, 0, remote ? key : 0);
    return true;
  }

  private long[] readPages(Chain chain, int count) throws QueueException {
    MemorySegment list = Arena.ofAuto().allocate((long) count * Long.BYTES, Long.BYTES);
    long from = NetControl.HEADER_SIZE + RegisterUserMr.page(0);
    chain.read(host, from, list, list.byteSize());
    return list.toArray(LITTLE);
  }

  private boolean deregisterMr(int mrn) {
    Optional<RoceRegion> region = objects.regions.get(mrn);
    region.ifPresent(
        gone -> {
          objects.regions.remove(mrn);
          objects.domains.get(gone.pdn()).orElseThrow().users--;
          pages -= gone.pages().length;
        });
    return region.isPresent();
  }

  private boolean createQp(MemorySegment data) {
    RoceQueuePair pair = new RoceQueuePair(command);
    Optional<RoceDomain> domain = objects.domains.get(pair.pdn);
    Optional<RoceCompletionQueue> sends = objects.completions.get(pair.sendCqn);
    Optional<RoceCompletionQueue> receives = objects.completions.get(pair.receiveCqn);
    if (domain.isEmpty()
        || sends.isEmpty()
        || receives.isEmpty()
        || !RoceQueuePair.isPossible(command)
        || !create(objects.pairs(pair.type == QpType.GSI), pair, data)) {
      return false;
    }
    domain.get().users++;
    sends.get().users++;
    receives.get().users++;
    return true;
  }

  private boolean modifyQp() throws QueueException {
    int qpn = ModifyQp.QPN.get(command, 0);
    Optional<RoceQueuePair> pair = objects.pair(qpn);
    if (pair.isEmpty()) {
      return false;
    }
    int from = pair.get().state();
    boolean modified = pair.get().modify(command, largestMtu, objects.gids);
    if (modified) {
      transport.modified(qpn, pair.get(), from);
    }
    return modified;
  }

  private boolean queryQp(MemorySegment data) {
    Optional<RoceQueuePair> pair = objects.pair(QueryQp.QPN.get(command, 0));
    pair.ifPresent(queried -> queried.query(data));
    return pair.isPresent();
  }

  private boolean destroyQp(int qpn) {
    Optional<RoceQueuePair> pair = objects.pair(qpn);
    pair.ifPresent(
        gone -> {
          transport.destroyed(qpn);
          objects.pairs(gone.type == QpType.GSI).remove(qpn);
          objects.domains.get(gone.pdn).orElseThrow().users--;
          objects.completions.get(gone.sendCqn).orElseThrow().users--;
          objects.completions.get(gone.receiveCqn).orElseThrow().users--;
        });
    return pair.isPresent();
  }

  private boolean createAh(MemorySegment data) {
    int pdn = CreateAh.PDN.get(command, 0);
    RoceAddress address = RoceAddress.read(command, CreateAh.ADDRESS_VECTOR);
    Optional<RoceDomain> domain = objects.domains.get(pdn);
    if (domain.isEmpty()
        || !objects.gids.has(address.sourceGid())
        || !create(objects.handles, new RoceHandle(pdn, address), data)) {
      return false;
    }
    domain.get().users++;
    return true;
  }

  private boolean destroyAh() {
    int ah = DestroyAh.AH.get(command, 0);
    int pdn = DestroyAh.PDN.get(command, 0);
    boolean exists = objects.handles.get(ah).filter(handle -> handle.pdn() == pdn).isPresent();
    if (exists) {
      objects.handles.remove(ah);
      objects.domains.get(pdn).orElseThrow().users--;
    }
    return exists;
  }

  private boolean addGid() {
    MemorySegment gid = AddGid.GID.in(command, 0);
    long high = gid.get(BIG, 0);
    long low = gid.get(BIG, 8);
    return (high | low) != 0
        && transport.sendsFrom(high, low)
        && objects.gids.set(AddGid.INDEX.get(command, 0), high, low);
  }

  private boolean requestNotify() {
    int flags = RequestNotify.FLAGS.get(command, 0);
    Optional<RoceCompletionQueue> queue =
        objects.completions.get(RequestNotify.CQN.get(command, 0));
    boolean known =
        flags != 0 && (flags & ~(RequestNotify.SOLICITED | RequestNotify.NEXT_COMPLETION)) == 0;
    if (known && queue.isPresent()) {
      queue.get().arm((flags & RequestNotify.NEXT_COMPLETION) != 0);
      return true;
    }
    return false;
  }
}
