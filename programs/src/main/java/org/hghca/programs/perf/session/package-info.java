/**
 * One run of a program: {@link org.hghca.programs.perf.session.PerfSession}, from the conversation
 * to the last row; {@link org.hghca.programs.perf.session.BothSides} runs both sides in this
 * process.
 */
package org.hghca.programs.perf.session;
