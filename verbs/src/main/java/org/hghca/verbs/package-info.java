/**
 * The verbs: devices, contexts, protection domains, memory regions, completion queues and channels,
 * shared receive queues, address handles, asynchronous events and queue pairs, with the names,
 * numbers and rules of libibverbs. Objects are thread-safe; requests and completions belong to one
 * thread at a time. A verb that the device does not support fails with EOPNOTSUPP and has no
 * effect.
 *
 * <p>Each kind of mistake has one kind of exception:
 *
 * <table>
 * <caption>Exceptions</caption>
 * <tr><th>what is wrong</th><th>what is thrown</th></tr>
 * <tr><td>a work request, or the moment at which it is posted</td>
 *     <td>{@link BadRequestException}, with its place in the list; it is a VerbsException</td></tr>
 * <tr><td>any other verb that fails, and any value out of its range</td>
 *     <td>{@link VerbsException} with the {@link Errno} that libibverbs would have returned</td></tr>
 * <tr><td>an index, or a part that reaches beyond memory, a list, a slice</td>
 *     <td>{@link IndexOutOfBoundsException}</td></tr>
 * <tr><td>null where the documentation does not permit it</td><td>{@link NullPointerException}</td></tr>
 * <tr><td>a buffer that is returned twice, a single owner's queue that two threads use at once</td><td>{@link IllegalStateException}</td></tr>
 * <tr><td>a thread that is interrupted while it waits</td><td>{@link InterruptedException}</td></tr>
 * </table>
 *
 * <p>A full queue is not a mistake: {@code tryPost} returns false. A posted request that fails does
 * not throw; its completion has a {@link WcStatus}.
 */
package org.hghca.verbs;
