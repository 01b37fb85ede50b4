/** What a program needs whose other end runs on another machine. */
package org.hghca.programs.peer;
