package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// A previewer shows what a question would send.
type previewer struct {
	turn    int
	history bool
	asJSON  bool
}

// newPreview is a command that, when it is meant, has the flags of serving:
// these say what there is to inject.
func newPreview(flags *config.Flags, meant bool) *cobra.Command {
	var v previewer
	cmd := &cobra.Command{
		Use:   "preview TEXT",
		Short: "Show the request that a question would send, and why it is as it is",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return &config.UsageError{Message: "preview takes one text", Hint: "prism-rpc preview 'List primes.'; - reads it from stdin"}
			case v.turn < 0:
				return &config.UsageError{Message: "--turn: must be at least 1"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd.Context(), flags, args[0], cmd.OutOrStdout())
		},
	}
	if meant {
		flags.Register(cmd.Flags())
		completeChoices(cmd)
	}
	cmd.Flags().IntVar(&v.turn, "turn", 0, "as if it were this turn; default is the session's next")
	cmd.Flags().BoolVar(&v.history, "history", false, "show the dialogue so far too")
	cmd.Flags().BoolVar(&v.asJSON, "json", false, "the result of the method preview, one line")
	return cmd
}

func (v *previewer) run(ctx context.Context, flags *config.Flags, text string, out io.Writer) error {
	return once(ctx, flags, func(ctx context.Context, _ context.CancelCauseFunc, p *process) error {
		result, err := v.ask(ctx, p, text)
		switch {
		case err != nil:
			return err
		case v.asJSON:
			return writeLine(out, result)
		}
		w := bufio.NewWriter(out)
		return errors.Join(writePreview(w, result), w.Flush())
	})
}

func (v *previewer) ask(ctx context.Context, p *process, text string) (*schema.PreviewResult, error) {
	input, err := question(text, p.cfg.MaxFrame)
	if err != nil {
		return nil, err
	}
	preview, err := p.manager().Preview(session.Start{SessionID: cmp.Or(p.cfg.Session, session.NewID()), Input: input}, v.turn, v.history)
	if err != nil {
		return nil, err
	}
	return preview.Result(ctx)
}

// writePreview writes a table of what was considered, then the request's
// texts.
func writePreview(w io.Writer, r *schema.PreviewResult) error {
	_, err := fmt.Fprintf(w, "turn %d, %s: %d bytes, about %d tokens, sha256 %s\n\n", r.Turn, modelName(r), r.Bytes, r.Tokens, r.SHA256)
	return errors.Join(err, writeLayers(w, r.Layers), writeSegments(w, r.Request.Segments))
}

func modelName(r *schema.PreviewResult) string {
	if r.Request.Model == "" {
		return "the provider's model"
	}
	return "model " + fit(r.Request.Model)
}

func writeLayers(w io.Writer, layers []schema.PreviewLayer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "NAME\tFROM\tPLACE\tREASON\tBYTES\tTOKENS")
	var risks []string
	for _, l := range layers {
		from := cmp.Or(string(l.Origin), l.Source)
		_, lerr := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\n", oneLine(l.Name), from, l.Placement, l.Reason, l.Bytes, l.Tokens)
		err = errors.Join(err, lerr)
		if l.CacheRisk != "" {
			risks = append(risks, oneLine(l.Name)+": "+l.CacheRisk)
		}
	}
	err = errors.Join(err, table.Flush())
	for _, risk := range risks {
		_, lerr := fmt.Fprintf(w, "\n%s\n", risk)
		err = errors.Join(err, lerr)
	}
	return err
}

func oneLine(text string) string { return strings.ReplaceAll(fit(text), "\n", " ") }

func writeSegments(w io.Writer, segments []schema.PreviewSegment) error {
	var err error
	for _, seg := range segments {
		if h := seg.History; h != nil {
			_, werr := fmt.Fprintf(w, "\n== %s: %d messages, %d bytes\n", seg.Kind, h.Messages, h.Bytes)
			err = errors.Join(err, werr)
		}
		for _, m := range seg.Messages {
			_, werr := fmt.Fprintf(w, "\n== %s, %s\n%s\n", seg.Kind, m.Role, fit(schema.PlainText(m.Content)))
			err = errors.Join(err, werr)
		}
	}
	return err
}
