/** Completion channels and asynchronous events. It is not an API for programs. */
package org.hghca.provider.event;
