package org.hghca.abi;

/**
 * The values of {@link HardwareProfile}, which documents each. They are not modified after the
 * factory methods here return.
 */
final class ProfileValues {
  private static final int UNBOUNDED = HardwareProfile.UNBOUNDED;

  String name;
  int hcrBase;
  int resetOffset;
  boolean resetConnected;
  int nopStatus;
  boolean resizeCq;
  boolean modifyQpWithoutInbox;
  boolean queryQpReliable;
  boolean misplacesSequenceNumbers;
  boolean sqdSqeStates;
  boolean eventQueues;
  int cqcEntrySize;
  int eqcEntrySize;
  int mapIcmMaxEntries;
  int mapIcmMaxPagesPerEntry;
  int qpcCapacityPages;
  int cqcCapacityPages;
  int eqcCapacityPages;
  int mptCapacityPages;
  int mttCapacityPages;
  boolean icmReclaim;
  boolean mptMappedWhole;
  boolean mttMappedWhole;
  int keyIndexBits;
  boolean doorbellsOvertakeCommands;
  int qpnLimit;
  int cqnLimit;
  boolean positionsSurviveDestroy;
  boolean positionsResumable;
  int minReceiveQueueBytes;
  int doorbellsInFlight;
  boolean fences;
  int requestsOutstanding;
  int requestsInFlight;
  int readBytesInFlight;
  int readPiece;
  int bytesInFlightBesideRead;
  boolean psnWraps;
  boolean readsCrossPsnWrap;
  boolean badRequestsReported;
  boolean zeroLength;
  boolean emptyReceives;
  boolean atomics;
  boolean inlineOnUd;
  boolean grhPlaced;
  boolean sendImmediate;
  boolean immediateDelivered;
  int remoteBoundsGranularity;
  int destinationAlignment;
  boolean completeTransport;
  boolean rnrAndTimeoutInHardware;
  boolean initAcknowledges;
  int cqeOwner;
  int receiveCqeUnit;
  boolean errorCqes;
  boolean errorCqeHasSyndrome;
  boolean flushesInHardware;

  private ProfileValues() {}

  /** The interface document. */
  static ProfileValues s() {
    var v = new ProfileValues();
    v.name = "s";
    v.hcrBase = Bar.HCR_DOCUMENT;
    v.resetOffset = Bar.RESET_DOCUMENT;
    v.resetConnected = true;
    v.nopStatus = 0x00;
    v.resizeCq = true;
    v.modifyQpWithoutInbox = true;
    v.queryQpReliable = true;
    v.misplacesSequenceNumbers = false;
    v.sqdSqeStates = true;
    v.eventQueues = true;
    v.cqcEntrySize = 128;
    v.eqcEntrySize = 64;
    v.mapIcmMaxEntries = 16;
    v.mapIcmMaxPagesPerEntry = 4095;
    v.qpcCapacityPages = UNBOUNDED;
    v.cqcCapacityPages = UNBOUNDED;
    v.eqcCapacityPages = UNBOUNDED;
    v.mptCapacityPages = UNBOUNDED;
    v.mttCapacityPages = UNBOUNDED;
    v.icmReclaim = true;
    v.mptMappedWhole = false;
    v.mttMappedWhole = false;
    v.keyIndexBits = 0;
    v.doorbellsOvertakeCommands = false;
    v.qpnLimit = 1 << 24;
    v.cqnLimit = 1 << 24;
    v.positionsSurviveDestroy = false;
    v.positionsResumable = false;
    v.minReceiveQueueBytes = 512;
    v.doorbellsInFlight = UNBOUNDED;
    v.fences = true;
    v.requestsOutstanding = UNBOUNDED;
    v.requestsInFlight = UNBOUNDED;
    v.readBytesInFlight = UNBOUNDED;
    v.readPiece = UNBOUNDED;
    v.bytesInFlightBesideRead = UNBOUNDED;
    v.psnWraps = true;
    v.readsCrossPsnWrap = true;
    v.badRequestsReported = true;
    v.zeroLength = true;
    v.emptyReceives = true;
    v.atomics = true;
    v.inlineOnUd = true;
    v.grhPlaced = true;
    v.sendImmediate = true;
    v.immediateDelivered = true;
    v.remoteBoundsGranularity = 1;
    v.destinationAlignment = 1;
    v.completeTransport = true;
    v.rnrAndTimeoutInHardware = true;
    v.initAcknowledges = false;
    v.cqeOwner = Cqe.OWNER_SOFTWARE;
    v.receiveCqeUnit = 1;
    v.errorCqes = true;
    v.errorCqeHasSyndrome = true;
    v.flushesInHardware = true;
    return v;
  }

  /** What both of the makers' RTLs have. */
  private static ProfileValues rtl() {
    var v = new ProfileValues();
    v.hcrBase = Bar.HCR_RTL;
    v.resetOffset = Bar.RESET_RTL;
    v.resetConnected = false;
    v.nopStatus = 0x02;
    v.resizeCq = false;
    v.modifyQpWithoutInbox = false;
    v.queryQpReliable = false;
    v.sqdSqeStates = false;
    v.eventQueues = false;
    v.mapIcmMaxEntries = 1;
    v.eqcCapacityPages = 1;
    v.icmReclaim = false;
    v.mptMappedWhole = true;
    v.doorbellsOvertakeCommands = true;
    v.positionsSurviveDestroy = true;
    v.doorbellsInFlight = 63;
    v.fences = false;
    v.requestsOutstanding = 1;
    v.psnWraps = false;
    v.badRequestsReported = false;
    v.zeroLength = false;
    v.emptyReceives = false;
    v.atomics = false;
    v.grhPlaced = false;
    v.sendImmediate = false;
    v.immediateDelivered = false;
    v.remoteBoundsGranularity = 4096;
    v.destinationAlignment = 32;
    v.completeTransport = false;
    v.rnrAndTimeoutInHardware = false;
    v.errorCqeHasSyndrome = false;
    v.flushesInHardware = false;
    return v;
  }

  /** The makers' first RTL. */
  static ProfileValues r1() {
    var v = rtl();
    v.name = "r1";
    v.misplacesSequenceNumbers = true;
    v.cqcEntrySize = 64;
    v.eqcEntrySize = 64;
    v.mapIcmMaxPagesPerEntry = 1024;
    v.qpcCapacityPages = 1024;
    v.cqcCapacityPages = 256;
    v.mptCapacityPages = 512;
    v.mttCapacityPages = 512;
    v.mttMappedWhole = true;
    v.keyIndexBits = 15;
    v.qpnLimit = 1024;
    v.cqnLimit = 8192;
    v.positionsResumable = true;
    v.minReceiveQueueBytes = 512;
    v.requestsInFlight = 40;
    v.readBytesInFlight = 896;
    v.readPiece = 512;
    v.bytesInFlightBesideRead = 4096;
    v.readsCrossPsnWrap = true;
    v.inlineOnUd = true;
    v.initAcknowledges = true;
    v.cqeOwner = Cqe.OWNER_SOFTWARE;
    v.receiveCqeUnit = 1;
    v.errorCqes = true;
    return v;
  }

  /** The makers' second RTL. */
  static ProfileValues r2() {
    var v = rtl();
    v.name = "r2";
    v.misplacesSequenceNumbers = false;
    v.cqcEntrySize = 128;
    v.eqcEntrySize = 128;
    v.mapIcmMaxPagesPerEntry = 1;
    v.qpcCapacityPages = 16;
    v.cqcCapacityPages = 8;
    v.mptCapacityPages = 8192;
    v.mttCapacityPages = 8192;
    v.mttMappedWhole = false;
    v.keyIndexBits = 0;
    v.qpnLimit = 256;
    v.cqnLimit = 256;
    v.positionsResumable = false;
    v.minReceiveQueueBytes = 1024;
    v.requestsInFlight = 63;
    v.readBytesInFlight = UNBOUNDED;
    v.bytesInFlightBesideRead = UNBOUNDED;
    v.readsCrossPsnWrap = false;
    v.readPiece = UNBOUNDED; // it executes slot after slot: none can be rung twice
    v.inlineOnUd = false;
    v.initAcknowledges = false;
    v.cqeOwner = Cqe.OWNER_HARDWARE;
    v.receiveCqeUnit = 16;
    v.errorCqes = false;
    return v;
  }
}
