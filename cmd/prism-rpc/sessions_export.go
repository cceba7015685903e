package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

func newExport(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "export ID",
		Short: "Print all that is kept of a session, as JSON",
		Args:  oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return onStore(flags, func(k *keeper) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				return errors.Join(k.export(args[0], out), out.Flush())
			})
		},
	}
}

// An exportedHead begins what export prints, before the turns.
type exportedHead struct {
	SessionID string `json:"sessionId"`
	CreatedAt string `json:"createdAt"`
}

// An exportedRest ends it, behind the turns.
type exportedRest struct {
	Settings    schema.SessionSettings `json:"settings"`
	Compactions []*exportedCompaction  `json:"compactions,omitempty"`
	Splices     []exportedSplice       `json:"splices,omitempty"`
	Unfinished  *unfinished            `json:"unfinished,omitempty"`
}

// export writes one object, a turn as soon as it is read. Where the log can't
// be read to its end, the object is whole all the same, with what stands
// before the damage.
func (k *keeper) export(id string, out io.Writer) error {
	e := &exporter{out: out}
	e.turn = e.write
	readErr := k.read(id, &e.stored)
	if e.header.ID == "" {
		return readErr
	}
	return errors.Join(readErr, e.end(func() error { return k.exportImages(id, e.all(), out) }))
}

// An exporter writes a session as JSON.
type exporter struct {
	stored
	out   io.Writer
	turns int
}

// begin writes what stands before the next turn.
func (e *exporter) begin() error {
	if e.turns++; e.turns > 1 {
		_, err := io.WriteString(e.out, ",")
		return err
	}
	head, err := json.Marshal(&exportedHead{e.header.ID, e.header.CreatedAt})
	if err == nil {
		_, err = e.out.Write(append(head[:len(head)-1], `,"turns":[`...))
	}
	return err
}

func (e *exporter) write(t *exportedTurn) error {
	if err := e.begin(); err != nil {
		return err
	}
	return json.MarshalWrite(e.out, t)
}

// end writes what stands behind the turns, and images last.
func (e *exporter) end(images func() error) error {
	if e.turns == 0 {
		if err := e.begin(); err != nil {
			return err
		}
	}
	rest, err := json.Marshal(&exportedRest{e.settings, e.compactions, e.splices, e.open})
	if err == nil {
		_, err = e.out.Write(append([]byte("],"), rest[1:len(rest)-1]...))
	}
	if err == nil {
		err = images()
	}
	if err == nil {
		_, err = io.WriteString(e.out, "}\n")
	}
	return err
}
