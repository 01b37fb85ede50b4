/** A software HCA in the process, for programs and tests that have no card at hand. */
package org.hghca.model;
