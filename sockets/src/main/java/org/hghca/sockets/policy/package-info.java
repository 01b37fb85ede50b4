/** Which addresses go over RDMA, and over which device: by system properties. */
package org.hghca.sockets.policy;
