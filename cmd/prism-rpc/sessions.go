package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
)

// newSessions is a command that, when it is meant, has subcommands, and these
// the flags that say where sessions are kept and what must not be shown.
func newSessions(flags *config.Flags, meant bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, export or repair the sessions that are kept",
		RunE: func(*cobra.Command, []string) error {
			return &config.UsageError{Message: "sessions does nothing by itself", Hint: "prism-rpc sessions list|show|export|repair"}
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return &config.UsageError{Message: "unknown command " + inQuotes("sessions "+args[0]), Hint: "there are: list, show, export, repair"}
		},
	}
	if meant {
		cmd.AddCommand(newList(flags), newShow(flags), newExport(flags), newRepair(flags))
		for _, sub := range cmd.Commands() {
			flags.Register(sub.Flags(), "store", "storeDir", "profile", "redactEnv", "redactRules", "logLevel", "logFile")
			completeChoices(sub)
		}
	}
	return cmd
}

func newList(flags *config.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the newest first",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onStore(flags, func(k *keeper) error { return k.list(cmd.OutOrStdout(), asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON for each")
	return cmd
}

func newRepair(flags *config.Flags) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "repair ID",
		Short: "Cut off what a crash left half-written at the end of a session's log",
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return noArguments(cmd, args)
			}
			return oneSession(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return onStore(flags, func(k *keeper) error {
				if all {
					return k.repairAll(cmd.OutOrStdout())
				}
				return k.repair(cmd.OutOrStdout(), args[0])
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "of every session")
	return cmd
}

// oneSession holds a command to one argument, a session's id.
func oneSession(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return &config.UsageError{Message: ownName(cmd) + " takes one session's id", Hint: "prism-rpc sessions list shows them"}
	case !schema.ValidSessionID(args[0]):
		return &config.UsageError{Message: inQuotes(args[0]) + " is no session's id", Hint: "prism-rpc sessions list shows them"}
	}
	return nil
}

// A keeper looks after the stored sessions.
type keeper struct {
	*process
	store    *filestore.Store // nil where there is no folder
	repaired string           // what a repair did, for people
	skipped  int              // sessions that could not be listed
}

// onStore runs do on the store that the configuration names. It makes none.
// Signals end it as they end any program: a store stands that.
func onStore(flags *config.Flags, do func(*keeper) error) error {
	p, err := load(flags)
	defer p.lines.flush()
	k := &keeper{process: p}
	if err == nil {
		err = k.open()
	}
	if err == nil {
		err = do(k)
	}
	return p.redacted(err)
}

func (k *keeper) open() error {
	if k.cfg.Store == "memory" {
		return &config.UsageError{Message: "--store=memory keeps no sessions", Hint: "--store-dir names the folder of those that are kept"}
	}
	dir, err := storeDir(k.cfg, os.Getenv)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	k.store, err = filestore.Open(dir, filestore.Options{OnRepair: k.onRepair, OnSkip: k.onSkip})
	if err != nil {
		return noStore(err)
	}
	return nil
}

func (k *keeper) onRepair(_ string, dropped int64, kept string) {
	k.repaired = fmt.Sprintf("cut off %d bytes that were not whole, and kept them in %s", dropped, kept)
}

// onSkip tells of a session that is left out. Without its index a store does
// its work all the same.
func (k *keeper) onSkip(name string, err error) {
	if strings.HasSuffix(name, ".jsonl") {
		k.skipped++
		say("prism-rpc: left out " + k.shown(name+": "+err.Error()))
		return
	}
	k.logger.Warn("the index of the session store can't be used", zap.Error(err))
}

// shown is a text as it may stand in a line for people.
func (k *keeper) shown(text string) string {
	return strings.ReplaceAll(plain.Text(k.redactor().Text(text, nil), maxComplaint), "\n", " ")
}

func (k *keeper) all() ([]schema.SessionInfo, error) {
	if k.store == nil {
		return nil, nil
	}
	infos, _, err := k.store.List("", 0, "")
	return infos, err
}

func (k *keeper) list(out io.Writer, asJSON bool) error {
	infos, err := k.all()
	if err != nil {
		return err
	}
	width := len("SESSION")
	for _, s := range infos {
		width = max(width, len(s.SessionID))
	}
	if !asJSON && len(infos) > 0 {
		if _, err := fmt.Fprintf(out, "%-*s  TURNS  %-24s  TITLE\n", width, "SESSION", "UPDATED"); err != nil {
			return err
		}
	}
	for _, s := range infos {
		if asJSON {
			err = k.writeJSON(out, s)
		} else {
			_, err = fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s  %5d  %-24s  %s", width, k.shown(s.SessionID), s.Turn, s.UpdatedAt, k.shown(s.Title)), " "))
		}
		if err != nil {
			return err
		}
	}
	if k.skipped > 0 {
		return errSilent // it was told
	}
	return nil
}

// writeJSON writes v as a line, without secrets.
func (k *keeper) writeJSON(out io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = out.Write(append(k.redactor().JSON(line, nil), '\n'))
	}
	return err
}

func (k *keeper) repairAll(out io.Writer) error {
	infos, err := k.all()
	if err != nil {
		return err
	}
	errs := make([]error, 0, len(infos))
	for _, s := range infos {
		errs = append(errs, k.repair(out, s.SessionID))
	}
	if k.skipped > 0 {
		errs = append(errs, errSilent)
	}
	return errors.Join(errs...)
}

// repair opens a session as a turn would, so that what it lets pass a server
// lets pass too, and closes it. It looks at the session's images as well.
func (k *keeper) repair(out io.Writer, id string) error {
	if k.store == nil {
		return ofSession(id, session.ErrNotFound)
	}
	k.repaired = ""
	if err := k.takeUp(id); err != nil {
		return errors.Join(k.tellRepaired(out, id), ofSession(id, err))
	}
	held := &stored{turn: func(*exportedTurn) error { return nil }}
	if err := k.read(id, held); err != nil {
		return err
	}
	k.repaired = cmp.Or(k.repaired, "nothing to repair")
	return errors.Join(k.tellRepaired(out, id), k.checkImages(id, held.all()))
}

// tellRepaired tells what the repair of a session did, if it did anything.
func (k *keeper) tellRepaired(out io.Writer, id string) error {
	if k.repaired == "" {
		return nil
	}
	_, err := fmt.Fprintln(out, k.shown(id+": "+k.repaired))
	return err
}

// takeUp opens a session as a server does, and lets go of it.
func (k *keeper) takeUp(id string) error {
	m, err := session.NewManager(session.Config{Store: k.store})
	if err != nil {
		return err
	}
	_, err = m.Lookup(id)
	return errors.Join(err, m.Close())
}

// ofSession says which session an error is about, and who holds it.
func ofSession(id string, err error) error {
	var locked *session.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("%s: %w (process %d, since %s)", id, err, locked.PID, locked.Since)
	}
	return fmt.Errorf("%s: %w", id, err)
}
