package main

import (
	"cmp"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/schema"
)

// reminders are the configuration's, and over them the user's own, which are
// kept beside the configuration, or in the process where sessions are.
func (p *process) reminders() *reminder.Store {
	o := reminder.Options{
		Base: p.cfg.Reminders.Layer(), Path: p.cfg.RemindersFile, Trivial: p.cfg.Reminders.Trivial(), OnChange: p.remindersChanged,
	}
	if p.cfg.Store == "memory" {
		o.Path = ""
	}
	return reminder.New(o)
}

// remindersChanged tells of other reminders than before, or of a file of them
// that can't be taken as it is.
func (p *process) remindersChanged(now *reminder.Settings) {
	n := schema.Notice{
		Level: schema.LevelInfo, Kind: schema.NoticeRemindersChanged, Message: "the reminders were changed",
		Data: map[string]any{"revision": now.Wire(p.redactor()).Revision, "enabled": now.Enabled, "prompts": len(now.Prompts), "warnings": len(now.Warnings)},
	}
	if len(now.Warnings) > 0 {
		n.Level, n.Message = schema.LevelWarning, cmp.Or(now.Warnings[0], n.Message)
	}
	p.notifier.Notify(n)
	p.logger.Info(n.Message, zap.String("kind", string(n.Kind)))
}
