/** The same messages over hghca and over what else a Java program has, measured in one run. */
package org.hghca.tools.perf.peers;
