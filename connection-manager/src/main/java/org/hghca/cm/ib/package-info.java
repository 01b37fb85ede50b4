/**
 * The InfiniBand connection manager: connections by messages between queue pairs 1, as Linux makes
 * them over RoCE.
 *
 * <p>{@link org.hghca.cm.ib.IbCarrier} owns the queue pair of the general services of one device,
 * and one thread, which sleeps while nothing comes and no time runs out. The protocol itself does
 * not know them: an {@code Engine} takes what arrives, and a {@code MadAgent} sends by a {@code
 * MadTransport}, from which it has the time, too. All state is under the agent's one lock, under
 * which nothing waits and no code of an application runs.
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, chapter 12; where it leaves a choice,
 * Linux's {@code drivers/infiniband/core/cm.c} and {@code cma.c}.
 */
package org.hghca.cm.ib;
