package rpc

import (
	"context"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// Framing says how messages stand in the byte stream.
type Framing string

// The framings.
const (
	FramingAuto    Framing = "auto" // told apart by the first byte
	FramingLines   Framing = "lines"
	FramingHeaders Framing = "headers"
)

// OnEOF says what the end of the input means for turns under way.
type OnEOF string

// The meanings of the end of the input.
const (
	EOFDrain  OnEOF = "drain"  // finish and answer them
	EOFCancel OnEOF = "cancel" // cancel and answer them
)

// Options configure Serve. The zero value but for Sessions works.
type Options struct {
	Sessions *session.Manager // required unless Unready is set
	Version  string           // of the server, for serverInfo

	// Unready answers every request but ping, rpc.discover and exit: a
	// configuration that could not be used, a store that could not be opened.
	Unready error

	DefaultSession string // the id of the connection's default session; empty: made anew

	Framing      Framing       // default auto
	MaxFrame     int           // bytes of one message; default 64 MiB
	DrainTimeout time.Duration // how long the end of input waits for turns; default 30 s
	OnEOF        OnEOF         // default drain

	Notices  []schema.Notice // what start-up has to say; sent after the first reply
	Notifier *Notifier       // takes further ones; nil: only the connection itself has any

	Client *Client // asks the client on behalf of bundles; nil: nobody does

	// AfterFirstReply is called once, when a reply was given to the writer: what
	// needs to be done but not at start-up can begin. It must not block.
	AfterFirstReply func()

	// Rescan looks for injectors again where the host found them, and names those
	// that have changed. Nil: there is nowhere to look.
	Rescan func(context.Context) (changed []string, err error)

	Redactor *redact.Redactor // for errors, notices and logs of the connection
	Logger   *zap.Logger      // nil logs nothing

	// Trace gets a line of JSON for each message that is read or written:
	// {at, dir, bytes, msg}, msg being the message, redacted, with its strings
	// cut at 4 KiB; a line that is none is a string. Writing does not hold up
	// serving: what it can't keep up with is left out, and {dropped} says how
	// many messages that were. After an error nothing more is traced.
	Trace io.Writer
}
