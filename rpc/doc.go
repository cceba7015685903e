// Package rpc turns bytes into calls and results into bytes: JSON-RPC 2.0 over
// any reader and writer, on the connection type of sourcegraph/jsonrpc2.
//
// A request makes five hops:
//
//	      input                                            output
//	        │                                                ▲
//	        ▼                                                │
//	1 ReadObject    cuts out one message, checks it     5 WriteObject
//	        │       whole, answers what is none              ▲  puts id and result
//	        ▼                                                │  into the writer's
//	2 Handle        finds the method                         │  queue, one message
//	        │                                                │  at a time
//	        ▼                                                │
//	3 begin ────────── has the answer ───────────────────────┤
//	        │       decodes params, claims what the          │
//	        │       call needs; never blocks                 │
//	        ▼                                                │
//	4 wait ─────────── blocks until it has the answer ───────┘
//
// Hops 1 to 3 happen on one goroutine, so calls begin in the order in which
// their bytes arrived, also when many arrive in one read. Each wait has a
// goroutine of its own: calls end in any order. Cancellation is a call like
// any other and begins at its place in that order.
//
// No hop waits for the client to read. What is to be written goes into a queue
// that one writer empties; only when the replies in it pass a limit does the
// reading stop, until the client has caught up. Text deltas of a turn that
// stand in that queue are joined. No message in it is larger than the client
// takes: results that would be are shortened, each in its own way, or refused.
//
// The server asks the client too, over the same connection: from a wait, whose
// goroutine may block until the reply was read.
package rpc
