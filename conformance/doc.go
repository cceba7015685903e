// Package conformance holds prism-rpc against programs that nobody here wrote.
// It has tests alone, in a module of its own, since they need npm packages.
package conformance
