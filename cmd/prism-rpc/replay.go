package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
)

// newReplay is a command that, when it is meant, has the flags of serving: these
// say what there is to inject.
func newReplay(flags *config.Flags, meant bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Send a trace's requests to a server on the mock provider and compare what it answers",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return &config.UsageError{Message: "replay takes one file", Hint: "one that --trace-file has made"}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return replay(cmd.Context(), flags, args[0], cmd.OutOrStdout())
		},
	}
	if meant {
		flags.Register(cmd.Flags())
		completeChoices(cmd)
	}
	return cmd
}

// replay plays each run of the trace in the file at path. It returns errSilent
// where one differs.
func replay(ctx context.Context, flags *config.Flags, path string, out io.Writer) error {
	ctx, cancel, ready := untilSignal(ctx)
	defer cancel(nil)
	<-ready
	runs, err := readTrace(path)
	if err != nil {
		return &config.UsageError{Message: filepath.Base(path) + ": " + config.Reason(err), Hint: "replay takes what --trace-file has made"}
	}
	p, err := load(flags)
	defer p.lines.flush()
	if err != nil {
		return p.redacted(err)
	}
	p.cfg.Provider, p.cfg.Store, p.cfg.Providers = "mock", "memory", config.Providers{}
	var sum tallied
	for _, run := range runs {
		err := p.replayRun(ctx, newRecording(run), &sum, out)
		var killed *signalError
		switch {
		case errors.As(context.Cause(ctx), &killed):
			return killed
		case err != nil:
			return p.redacted(err)
		}
	}
	if _, err := fmt.Fprintln(out, sum.line()); err != nil {
		return err
	}
	if sum.differences > 0 {
		return errSilent
	}
	return nil
}

// tallied counts what replay did.
type tallied struct{ requests, differences, skipped, loose, unanswered, lost int }

func (t *tallied) line() string {
	return fmt.Sprintf("%d requests compared, %d differences, %d cut messages skipped, %d requests not compared, %d requests without an answer in the trace, %d lines missing from it",
		t.requests, t.differences, t.skipped, t.loose, t.unanswered, t.lost)
}

func (p *process) replayRun(ctx context.Context, rec *recording, sum *tallied, out io.Writer) error {
	back, err := p.backEnds(ctx)
	if err != nil {
		return err
	}
	player := newPlayer(rec, p.cfg)
	back.chosen = &paced{back.chosen, player}
	back.byName = map[string]provider.Provider{"mock": back.chosen}
	if err := p.manage(ctx, os.Getenv, back); err != nil {
		return err
	}
	opts := p.options(nil)
	opts.Framing, opts.DrainTimeout = "lines", player.patience
	player.play(ctx, opts)
	if err := p.close(); err != nil {
		return err
	}
	for _, line := range rec.differences(player.got, sum) {
		clean := plain.Text(p.redactor().Text(line, nil), 4<<10)
		if _, err := fmt.Fprintln(out, strings.ReplaceAll(clean, "\n", " ")); err != nil {
			return err
		}
	}
	return nil
}

// A step is a message that the client sent, or one that the server wrote.
type step struct {
	in      bool
	line    []byte // of a client's message, to be sent; nil: the trace lacks it
	written []byte
}

// A recording is one run of a server, as a trace has it.
type recording struct {
	steps   []step
	said    *transcript
	methods map[string][]string // by id, in order; what was asked and can be asked again
	ids     []string            // in the order in which they were asked first
	after   map[string][]int    // for each reply to an id, how many messages had come in by then
	places  map[string]int      // by id, the number of the last message that asked
	hidden  []string            // event types that the client didn't want
	ends    int                 // how many messages had come in when the last came that can cancel a turn
	count   int                 // messages that came in
	skipped int                 // of them, those that the trace has not whole
	lost    int

	asks    []*asking
	unnamed string            // the session of messages that name none
	ended   map[string]int    // by run, how many messages had come in when its turn_ended was written
	until   map[string][]int  // as after, by when the turn itself was over
	needs   map[int][]*asking // by a message's number, what was over before it took effect
	loose   map[string]bool   // by id, what is answered otherwise without being a difference
	unsure  map[*asking]bool  // what came while the session was being deleted
}

func newRecording(lines []traceLine) *recording {
	r := &recording{
		said: newTranscript(), methods: map[string][]string{}, after: map[string][]int{}, places: map[string]int{},
		ended: map[string]int{}, needs: map[int][]*asking{},
		loose: map[string]bool{}, unsure: map[*asking]bool{},
	}
	seen := map[string]int{}
	for i := range lines {
		switch l := &lines[i]; {
		case l.Dropped > 0:
			r.lost += l.Dropped
		case l.Dir == dirIn:
			r.heard(l, seen)
		default:
			r.steps = append(r.steps, step{written: l.Msg})
			for _, id := range r.said.add(l.Msg) {
				r.after[id] = append(r.after[id], r.count)
			}
			for _, m := range messages[message](l.Msg) {
				if m.Params.Type == "turn_ended" {
					r.ended[m.Params.RunID] = r.count
				}
			}
		}
	}
	r.loosen()
	r.order()
	r.loosen() // with what is unsure
	return r
}

// request is what is read of a client's message.
type request struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// stopping are the methods that can cancel a turn.
var stopping = []string{"abort", "$/cancelRequest", "$/cancel_request", "notifications/cancelled", "exit", "closeSession", "deleteSession"}

// heard takes a message; seen counts the requests by their ids.
func (r *recording) heard(l *traceLine, seen map[string]int) {
	line, whole := l.sent()
	r.count++
	text := jsontext.Value(line)
	if !whole {
		r.skipped++
		text = l.Msg
	}
	for _, m := range messages[request](text) {
		id := string(m.ID)
		r.asks = append(r.asks, newAsking(&m, seen[id], r.count, whole))
		seen[id]++
	}
	for _, m := range messages[request](line) {
		if slices.Contains(stopping, m.Method) {
			r.ends = r.count
		}
		if id := string(m.ID); id != "" && m.Method != "" {
			if r.methods[id] == nil {
				r.ids = append(r.ids, id)
			}
			r.methods[id] = append(r.methods[id], m.Method)
			r.places[id] = r.count
		}
		if m.Method == "initialize" && strings.Contains(string(m.Params), `"turn_started"`) {
			r.hidden = append(r.hidden, "turn_started")
		}
	}
	r.steps = append(r.steps, step{in: true, line: line})
}

// differences says in which requests got is not what was recorded.
func (r *recording) differences(got *transcript, sum *tallied) []string {
	var out []string
	sum.skipped, sum.lost = sum.skipped+r.skipped, sum.lost+r.lost
	for _, id := range r.ids {
		if id == nullID {
			continue
		}
		want, have, before := r.said.replies[id], got.replies[id], len(out)
		for i, method := range r.methods[id] {
			name := fmt.Sprintf("%s (id %s)", cmp.Or(method, "?"), id)
			switch {
			case i >= len(want):
				sum.unanswered++
				continue
			case r.loose[id] && (i >= len(have) || !want[i].same(have[i])):
				sum.loose++
				continue
			case i >= len(have):
				out = append(out, fmt.Sprintf("%s: recorded %s, now no answer", name, want[i]))
			case !want[i].same(have[i]):
				out = append(out, fmt.Sprintf("%s: recorded %s, now %s", name, want[i], have[i]))
			}
			sum.requests++
		}
		if len(out) == before && len(want) == len(r.methods[id]) && r.lost == 0 && !r.loose[id] {
			out = append(out, r.otherEvents(id, got)...)
		}
	}
	out = append(out, r.refusals(got)...)
	sum.differences += len(out)
	return out
}

// otherEvents is the difference of the events of the turns that a request led
// to, if there is one.
func (r *recording) otherEvents(id string, got *transcript) []string {
	was, is := r.said.types(id, r.hidden), got.types(id, r.hidden)
	if len(r.said.turns[id]) == 0 || slices.Equal(was, is) {
		return nil
	}
	return []string{fmt.Sprintf("%s (id %s): recorded the events %s, now %s", r.methods[id][0], id, strings.Join(was, ", "), strings.Join(is, ", "))}
}

// nullID is what answers have that no request can be told from.
const nullID = "null"

// refusals are the differences of those. A frame that is too large isn't in the
// trace, its refusal is.
func (r *recording) refusals(got *transcript) []string {
	if r.lost > 0 || r.skipped > 0 {
		return nil
	}
	var text [2]string
	for i, t := range []*transcript{r.said, got} {
		for _, o := range t.replies[nullID] {
			if o.kind != "frame_too_large" {
				text[i] += ", " + o.String()
			}
		}
		text[i] = cmp.Or(strings.TrimPrefix(text[i], ", "), "nothing")
	}
	if text[0] == text[1] {
		return nil
	}
	return []string{fmt.Sprintf("answers with id null: recorded %s, now %s", text[0], text[1])}
}
