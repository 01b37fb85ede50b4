/**
 * The objects of the verbs, as far as all providers have them in common: a driver extends them. It
 * is not an API for programs.
 */
package org.hghca.provider.object;
