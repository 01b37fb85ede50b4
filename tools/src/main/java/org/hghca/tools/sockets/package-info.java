/** The commands {@code hghca sockets}: how a program's sockets go over RDMA. */
package org.hghca.tools.sockets;
