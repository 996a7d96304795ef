/**
 * Tools on files. All of them go through {@link dev.millrace.tools.files.Workspace}, which gives out nothing that lies
 * outside of its folder, whatever path it is asked for and whatever links lie in the way.
 */
@NullMarked
package dev.millrace.tools.files;

import org.jspecify.annotations.NullMarked;
