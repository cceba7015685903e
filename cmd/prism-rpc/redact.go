package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
)

// newRedact is a command that, when it is meant, has the flags that all have:
// these say what is a secret.
func newRedact(flags *config.Flags, meant bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redact",
		Short: "Copy stdin to stdout without secrets, and count them on stderr",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return redactAll(flags, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	takeCommon(cmd, flags, meant)
	return cmd
}

// redactAll does not begin when it can't know all that is secret.
func redactAll(flags *config.Flags, in io.Reader, out io.Writer) error {
	p, err := load(flags)
	defer p.lines.flush()
	if err != nil {
		return p.redacted(err)
	}
	for _, w := range p.cfg.Warnings {
		say("prism-rpc: " + plain.Text(p.redactor().Text(w.Message+": "+w.Name, nil), maxComplaint))
	}
	stream := p.redactor().Stream()
	if err := filter(stream, in, out); err != nil {
		return p.redacted(err)
	}
	say("prism-rpc: " + removed(stream.Tally()))
	return nil
}

// filter copies in to out through the stream, whatever the bytes. It keeps one
// piece in memory, and shows what came before an error.
func filter(stream *redact.Stream, in io.Reader, out io.Writer) error {
	piece := make([]byte, 64<<10)
	for {
		n, readErr := in.Read(piece)
		text := stream.Write(string(piece[:n]))
		if readErr != nil {
			text += stream.Flush()
		}
		if _, err := io.WriteString(out, text); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return nil
		case readErr != nil:
			return fmt.Errorf("stdin: %s", config.Reason(readErr))
		}
	}
}

// removed says how many secrets of what name were removed.
func removed(tally *redact.Tally) string {
	counts := tally.Counts()
	if len(counts) == 0 {
		return "nothing redacted"
	}
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%d %s", c.Count, cmp.Or(plain.Text(c.Name, 128), "unnamed"))
	}
	return "redacted: " + strings.Join(parts, ", ")
}
