/** The ping-pongs of libibverbs by their own names: what they say to each other, and print. */
package org.hghca.programs.pingpong;
