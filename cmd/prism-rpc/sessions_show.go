package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

func newShow(flags *config.Flags) *cobra.Command {
	asJSON, raw := false, false
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session's dialogue",
		Args:  oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return onStore(flags, func(k *keeper) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				write := (&shower{k, out, raw}).text
				if asJSON {
					write = (&shower{k, out, raw}).line
				}
				return errors.Join(k.show(args[0], write), out.Flush())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON for each message")
	cmd.Flags().BoolVar(&raw, "raw", false, "don't make the text fit for a terminal")
	return cmd
}

// show hands over a session's messages and, where nothing followed it, the
// turn that has not ended.
func (k *keeper) show(id string, write func(schema.HistoryMessage, *unfinished) error) error {
	s := &stored{turn: func(t *exportedTurn) error {
		for _, m := range t.Messages {
			h := schema.HistoryMessage{
				Turn: t.Turn, Role: m.Role, Content: m.Content, At: t.At,
				Cancelled: m.Role == schema.RoleAssistant && t.StopReason == schema.StopCancelled,
			}
			if err := write(h, nil); err != nil {
				return err
			}
		}
		return nil
	}}
	err := k.read(id, s)
	if err == nil && s.open != nil {
		err = write(schema.HistoryMessage{}, s.open)
	}
	return err
}

// A shower writes messages.
type shower struct {
	*keeper
	out io.Writer
	raw bool
}

func (s *shower) line(m schema.HistoryMessage, open *unfinished) error {
	if open != nil {
		return s.writeJSON(s.out, map[string]any{"unfinished": open})
	}
	return s.writeJSON(s.out, m)
}

func (s *shower) text(m schema.HistoryMessage, open *unfinished) error {
	if open != nil {
		head := fmt.Sprintf("[turn %d, %s, not ended]\nuser: %s\n", open.Turn, open.At, words(open.Input))
		if open.Partial != "" {
			head += "assistant: " + open.Partial + "\n"
		}
		return s.write(head)
	}
	head := ""
	if m.Role == schema.RoleUser {
		head = fmt.Sprintf("[turn %d, %s]\n", m.Turn, m.At)
	}
	text := fmt.Sprintf("%s%s: %s\n", head, m.Role, words(m.Content))
	if m.Cancelled {
		text += "(cancelled)\n"
	}
	return s.write(text)
}

func (s *shower) write(text string) error {
	if !s.raw {
		text = fit(text)
	}
	_, err := io.WriteString(s.out, text)
	return err
}

func words(content []schema.ContentBlock) string {
	texts := make([]string, len(content))
	for i, b := range content {
		texts[i] = b.Plain()
	}
	return strings.Join(texts, "\n")
}
