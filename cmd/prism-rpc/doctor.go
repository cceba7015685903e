package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/schema"
)

// errUnwell is what the doctor ends with when something is wrong, which it has
// said.
var errUnwell = errors.New("something is wrong: see what stands behind FAIL")

// newDoctor is a command that, when it is meant, has the flags of serving.
func newDoctor(flags *config.Flags, meant bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check key, URL and model with a short call, and say what to do",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return examine(cmd.Context(), flags, cmd.OutOrStdout())
		},
	}
	if meant {
		flags.Register(cmd.Flags())
		completeChoices(cmd)
	}
	return cmd
}

// A doctor writes what it finds, a line for each thing.
type doctor struct {
	p    *process
	back *backEnds
	out  io.Writer
	sick bool
}

func examine(ctx context.Context, flags *config.Flags, out io.Writer) error {
	ctx, cancel, ready := untilSignal(ctx)
	defer cancel(nil)
	<-ready
	p, err := load(flags)
	defer p.lines.flush()
	if err != nil {
		return p.redacted(err)
	}
	d := &doctor{p: p, out: out}
	if d.back, err = p.backEnds(ctx); err == nil {
		err = p.manage(ctx, os.Getenv, d.back)
	}
	if err != nil {
		return verdict(ctx, p.redacted(errors.Join(err, p.close())))
	}
	d.tell("configuration", nil, "")
	if files, ok := p.store.(interface{ Writable() error }); ok {
		d.tell("store", files.Writable(), "see to the folder that --store-dir names")
	}
	d.tell("itself", d.talk(ctx), "")
	d.others()
	d.provider(ctx)
	if err = p.close(); err == nil && d.sick {
		return verdict(ctx, errUnwell)
	}
	return verdict(ctx, p.redacted(err))
}

// verdict is what the command ends with: the signal, or else err.
func verdict(ctx context.Context, err error) error {
	if killed, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		return killed
	}
	return err
}

// tell writes a line, and what to do where something is wrong.
func (d *doctor) tell(what string, err error, hint string) {
	if err == nil {
		fmt.Fprintf(d.out, "ok    %s\n", what)
		return
	}
	d.sick = true
	text := err.Error()
	if failed, ok := errors.AsType[*provider.Error](err); ok {
		text = string(failed.Class) + ": " + failed.Message
	}
	const most = 500
	fmt.Fprintf(d.out, "FAIL  %s: %s\n", what, plain.Text(d.p.redactor().Text(text, nil), most))
	if hint != "" {
		fmt.Fprintf(d.out, "      %s\n", hint)
	}
}

// talk has the server answer a client of our own.
func (d *doctor) talk(ctx context.Context) error {
	var answer strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	options := d.p.options(nil)
	options.Framing = rpc.FramingLines
	if err := rpc.Serve(ctx, in, &answer, options); err != nil {
		return err
	}
	if !strings.HasPrefix(answer.String(), `{"jsonrpc":"2.0","id":1,"result":{`) {
		return errors.New("it does not answer as it should")
	}
	return nil
}

// others says what is wrong with providers that aren't the chosen one.
func (d *doctor) others() {
	for _, e := range d.p.cfg.Endpoints {
		if e.Fault != nil {
			d.note("the provider " + e.Provider + ", which is not the chosen one, can't be asked: " + e.Fault.Error())
		}
	}
}

// note writes a line about what is no fault.
func (d *doctor) note(text string) {
	const most = 1000
	fmt.Fprintf(d.out, "      %s\n", plain.Text(d.p.redactor().Text(text, nil), most))
}

// provider makes the calls. The list of models is not every server's to give.
func (d *doctor) provider(ctx context.Context) {
	if d.back.chosen == nil {
		if d.back.missing != nil {
			d.tell("provider", d.back.missing, "or name another provider with --provider; mock needs no key")
			return
		}
		d.tell("provider", errors.New("none is chosen"), "--provider names one; --provider mock needs no key")
		return
	}
	name, model := d.back.chosen.Name(), d.p.cfg.Model
	if lister, ok := d.back.chosen.(provider.Lister); ok {
		models, err := lister.Models(ctx)
		if err == nil {
			d.tell(fmt.Sprintf("%s lists %d models", name, len(models)), nil, "")
			if model != "" && len(models) > 0 && !slices.ContainsFunc(models, func(m provider.Model) bool { return m.ID == model }) {
				d.note(model + " is none of them")
			}
		}
	}
	few := 16 // the least that every API takes
	_, err := d.back.chosen.Stream(ctx, &provider.Request{
		Model: model, Options: schema.RunOptions{MaxOutputTokens: &few},
		Segments: []provider.Segment{{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, "Say OK.")}}},
	}, func(provider.Event) error { return nil })
	d.tell(name+" answers", err, d.remedy(name, err))
}

// remedy says what to do about a failed call.
func (d *doctor) remedy(name string, err error) string {
	failed, ok := errors.AsType[*provider.Error](err)
	e := d.p.cfg.Endpoint(name)
	if !ok || e == nil {
		return ""
	}
	switch failed.Class {
	case provider.ClassAuth:
		return "the key of " + e.KeyFrom + " is not what " + e.BaseURL + " takes; set another one"
	case provider.ClassQuota, provider.ClassRateLimit:
		return "the key works; the account has no room now: see to its plan, or wait"
	case provider.ClassNetwork, provider.ClassTimeout:
		return "is a server running at " + e.BaseURL + "? --base-url names another; HTTPS_PROXY a proxy"
	case provider.ClassBadRequest:
		return "check --model, and that " + e.BaseURL + " is the base of the API of " + name
	}
	return "try again in a while"
}
