/**
 * A software HCA in the process, for programs and tests that have no card at hand.
 *
 * <p>Simulation, software HCA, cable and hub name each other, since a program asks each for the
 * others. What drives them is beneath: the simulation's thread and the callers' runs know its lock,
 * its clock and its participants, and a participant knows the segment or network it is plugged
 * into.
 */
package org.hghca.model;
