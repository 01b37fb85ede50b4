/**
 * The addresses of ports without tables of their own, and the way to their neighbors. It is not an
 * API for programs.
 */
package org.hghca.provider.address;
