/** The commands of {@code hghca perf} and their options. */
package org.hghca.programs.perf.command;
