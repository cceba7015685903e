// Package schema holds the shapes that cross a boundary: what clients send and
// receive, and what stands in a session's log. Field names are camelCase, enum
// values snake_case; sizes are bytes, times RFC 3339 UTC with milliseconds.
//
// Params types carry validator tags. Decode reads them strictly: keys match
// exactly, a repeated or unknown key is refused, and every refusal names its
// field.
package schema
