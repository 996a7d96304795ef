/**
 * Checks of the manifests and of the images. {@code ManifestsTest} is where to start: it says what holds for each
 * overlay. Nothing here asks a cluster.
 */
@NullMarked
package dev.millrace.deploy;

import org.jspecify.annotations.NullMarked;
