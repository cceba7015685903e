package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Conversation holds what a server writes against the contract: each reply
// against the method that was called with its id, each error against the table
// of kinds, each event against its type.
type Conversation struct {
	schema *Schema

	mu      sync.Mutex
	methods map[string][]string // by the raw id: what was called with it
	checked int
	errs    []error
}

// NewConversation is one connection's.
func NewConversation() (*Conversation, error) {
	s, err := Parse(schema.JSONSchema())
	return &Conversation{schema: s, methods: map[string][]string{}}, err
}

// Input notes the requests that are read through it, one JSON message a line.
func (c *Conversation) Input(r io.Reader) io.Reader {
	return io.TeeReader(r, &lines{each: c.note})
}

// Output checks the messages that are written through it, one a line.
func (c *Conversation) Output(w io.Writer) io.Writer {
	return io.MultiWriter(&lines{each: c.hold}, w)
}

// Err is what was wrong in all messages so far; Checked is how many they were.
func (c *Conversation) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// Checked counts the messages that were held against the contract.
func (c *Conversation) Checked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checked
}

// lines gives the whole lines of what is written to it to each.
type lines struct {
	each func(line []byte)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.each(line)
		l.rest = rest
	}
}

type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// messages reads a line: one message or a batch of them.
func messages(line []byte) ([]message, error) {
	lax := json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '[' {
		var batch []message
		err := json.Unmarshal(line, &batch, lax)
		return batch, err
	}
	var one message
	err := json.Unmarshal(line, &one, lax)
	return []message{one}, err
}

// note keeps which method each id was sent with. What is no message is the
// server's to refuse.
func (c *Conversation) note(line []byte) {
	sent, err := messages(line)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range sent {
		c.methods[string(m.ID)] = append(c.methods[string(m.ID)], m.Method)
	}
}

func (c *Conversation) hold(line []byte) {
	said, err := messages(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range said {
		err = errors.Join(err, c.check(m))
	}
	c.checked += len(said)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", line, err))
	}
}

func (c *Conversation) check(m message) error {
	switch {
	case m.JSONRPC != "2.0":
		return errors.New("jsonrpc is not 2.0")
	case m.Method != "" && m.ID != nil:
		return c.asked(m)
	case m.Method != "":
		return c.notification(m)
	case m.ID == nil:
		return errors.New("a reply without an id")
	case (m.Result == nil) == (m.Error == nil):
		return errors.New("a reply has either a result or an error")
	case m.Error != nil:
		return c.failure(m.Error)
	}
	return c.result(m)
}

func (c *Conversation) notification(m message) error {
	rows := schema.ServerNotifications()
	i := slices.IndexFunc(rows, func(n schema.Notification) bool { return n.Name == m.Method })
	switch {
	case i < 0:
		return fmt.Errorf("%s is not in the table of what the server sends", m.Method)
	case rows[i].Params != nil:
		return c.schema.Check(rows[i].Params.Name(), m.Params)
	}
	return c.event(m.Params)
}

// asked checks a request of the server's.
func (c *Conversation) asked(m message) error {
	for _, r := range schema.ServerRequests() {
		if r.Name == m.Method {
			return c.schema.Check(r.Params.Name(), m.Params)
		}
	}
	return fmt.Errorf("%s is not in the table of what the server asks", m.Method)
}

func (c *Conversation) event(params []byte) error {
	var head struct {
		Type  schema.EventType `json:"type"`
		Error jsontext.Value   `json:"error"`
	}
	if err := json.Unmarshal(params, &head, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	for _, e := range schema.Events() {
		if e.Type == head.Type {
			err := c.schema.Check(e.Shape.Name(), params)
			if head.Error != nil {
				err = errors.Join(err, c.failure(head.Error))
			}
			return err
		}
	}
	return fmt.Errorf("%q is no type of event", head.Type)
}

// failure checks an error object, and that its code is the one of its kind.
func (c *Conversation) failure(raw []byte) error {
	if err := c.schema.Check("EventError", raw); err != nil {
		return err
	}
	var e struct {
		Code int              `json:"code"`
		Data schema.ErrorData `json:"data"`
	}
	if err := json.Unmarshal(raw, &e, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	for _, row := range schema.ErrorKinds() {
		if row.Kind == e.Data.Kind && row.Code == e.Code {
			return nil
		}
	}
	return fmt.Errorf("the table of kinds has no %s with code %d", e.Data.Kind, e.Code)
}

// result checks a result. An id that was sent twice may be answered by either
// call, the other one being refused.
func (c *Conversation) result(m message) error {
	var errs []error
	for _, name := range c.methods[string(m.ID)] {
		err := c.resultOf(name, m.Result)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, fmt.Errorf("no call with id %s has such a result", m.ID))...)
}

func (c *Conversation) resultOf(name string, result []byte) error {
	for _, m := range schema.Methods() {
		switch {
		case m.Name != name:
		case m.Notification: // sent as a request
			return c.schema.Check("Empty", result)
		case m.Result != nil:
			return c.schema.Check(m.Result.Name(), result)
		case string(result) == "null":
			return nil
		}
	}
	return fmt.Errorf("%s has no such result", name)
}
