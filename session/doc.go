// Package session holds conversations: who may run when, what was said, and
// what is durable.
//
// A turn is one user input and all it leads to; it is counted when it commits.
// A run is one attempt at a turn. A run passes through
//
//	queued → started → committed | cancelled | failed
//
// and every step of that is one function here: Begin accepts it, take starts
// it, execute works, finish ends it. At most one run of a session is started
// at a time; sessions take their turns in rotation. A compaction that was asked
// for takes a run's place, but is no turn.
package session
