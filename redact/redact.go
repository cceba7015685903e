// Package redact takes secrets out of text: whole, in JSON, and in streams.
package redact
