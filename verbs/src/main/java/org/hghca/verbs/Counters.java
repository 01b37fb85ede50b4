package org.hghca.verbs;

/**
 * What a context has done since it was opened, as far as its driver sees; read without stopping it,
 * so that the numbers need not belong to one moment.
 *
 * @param sendsPosted send requests that were posted
 * @param receivesPosted receive requests that were posted, to shared queues too
 * @param doorbells stores that told the device of send requests
 * @param completions completions that were polled, unsignalled ones included
 * @param failures completions with a status other than SUCCESS and WR_FLUSH_ERR
 * @param flushed completions with WR_FLUSH_ERR
 * @param retriesExceeded requests that ended because nobody answered, RETRY_EXC_ERR
 * @param rnrRetriesExceeded requests that ended because the peer had no receive, RNR_RETRY_EXC_ERR
 * @param naks requests that the peer refused: REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR
 * @param completionEvents events that completion channels were given
 * @param asyncEvents asynchronous events that were raised
 * @param commands commands given to the device, by all contexts
 * @param dmaFaults accesses of the device to memory that were refused, to all contexts
 */
public record Counters(
    long sendsPosted,
    long receivesPosted,
    long doorbells,
    long completions,
    long failures,
    long flushed,
    long retriesExceeded,
    long rnrRetriesExceeded,
    long naks,
    long completionEvents,
    long asyncEvents,
    long commands,
    long dmaFaults) {}
