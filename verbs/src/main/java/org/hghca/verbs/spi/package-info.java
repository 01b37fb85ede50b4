/** What a provider of RDMA devices implements. */
package org.hghca.verbs.spi;
