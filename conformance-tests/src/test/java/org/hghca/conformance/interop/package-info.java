/**
 * A software HCA against Linux's soft RoCE, which the laboratory has in a virtual machine: scenario
 * {@code rxe} of {@code lab/run}. Everything at the far end is code of others, the kernel's or
 * rdma-core's; {@code lab/guest/verbs-agent.py} calls it on request.
 */
package org.hghca.conformance.interop;
