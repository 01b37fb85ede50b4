package org.hghca.virtio.abi.roce;

import java.util.Optional;

/** The commands of class {@link Dialect#controlClass}. Their codes are the positions. */
public enum RoceCommand {
  /** 0: limits of the device, {@link QueryDevice}. */
  QUERY_DEVICE(0, QueryDevice.SIZE),
  /** 1: limits of the port, {@link QueryPort}. */
  QUERY_PORT(0, QueryPort.SIZE),
  /** 2: {@link CreateCq}, answered by a {@link Handle}. */
  CREATE_CQ(CreateCq.SIZE, Handle.SIZE),
  /** 3: {@link Handle}. */
  DESTROY_CQ(Handle.SIZE, 0),
  /** 4: no data, answered by a {@link Handle}. */
  CREATE_PD(0, Handle.SIZE),
  /** 5: {@link Handle}. */
  DESTROY_PD(Handle.SIZE, 0),
  /** 6: {@link GetDmaMr}, answered by {@link MrKeys}. */
  GET_DMA_MR(GetDmaMr.SIZE, MrKeys.SIZE),
  /** 7: {@link RegisterUserMr} and the addresses of its pages, answered by {@link MrKeys}. */
  REG_USER_MR(RegisterUserMr.SIZE, MrKeys.SIZE),
  /** 8: {@link Handle}. */
  DEREG_MR(Handle.SIZE, 0),
  /** 9: {@link CreateQp}, answered by a {@link Handle}. */
  CREATE_QP(CreateQp.SIZE, Handle.SIZE),
  /** 10: {@link ModifyQp}. */
  MODIFY_QP(ModifyQp.SIZE, 0),
  /** 11: {@link QueryQp}, answered by {@link QpAttributes}. */
  QUERY_QP(QueryQp.SIZE, QpAttributes.SIZE),
  /** 12: {@link Handle}. */
  DESTROY_QP(Handle.SIZE, 0),
  /** 13: {@link CreateAh}, answered by a {@link Handle}. */
  CREATE_AH(CreateAh.SIZE, Handle.SIZE),
  /** 14: {@link DestroyAh}. */
  DESTROY_AH(DestroyAh.SIZE, 0),
  /** 15: {@link AddGid}. */
  ADD_GID(AddGid.SIZE, 0),
  /** 16: {@link DeleteGid}. */
  DEL_GID(DeleteGid.SIZE, 0),
  /** 17: {@link RequestNotify}. */
  REQ_NOTIFY_CQ(RequestNotify.SIZE, 0);

  private static final RoceCommand[] ALL = values();

  private final int dataSize;
  private final int ackSize;

  RoceCommand(int dataSize, int ackSize) {
    this.dataSize = dataSize;
    this.ackSize = ackSize;
  }

  /** The command that goes by a code. */
  public static Optional<RoceCommand> of(int code) {
    return code >= 0 && code < ALL.length ? Optional.of(ALL[code]) : Optional.empty();
  }

  /** The command's code, 0 to 17. */
  public int code() {
    return ordinal();
  }

  /**
   * Bytes of the command's data, behind class and command; that of {@link #REG_USER_MR} continues
   * with the addresses of the pages.
   */
  public int dataSize() {
    return dataSize;
  }

  /** Bytes that the device writes behind the result. */
  public int ackSize() {
    return ackSize;
  }
}
