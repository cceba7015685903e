package assemble

import (
	"cmp"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// InjectedNotices are the notices of applied injectors, in their order.
func InjectedNotices(applied []inject.Applied) []provider.Message {
	return noticesOf(applied, func(inject.Applied) bool { return true })
}

// KeptNotices are those of InjectedNotices that stay in the dialogue (R1).
func KeptNotices(applied []inject.Applied) []provider.Message {
	return noticesOf(applied, func(a inject.Applied) bool { return a.Keep })
}

func noticesOf(applied []inject.Applied, wanted func(inject.Applied) bool) []provider.Message {
	var out []provider.Message
	for _, a := range applied {
		if a.Notice != "" && wanted(a) {
			out = append(out, notice(a.Notice, cmp.Or(a.Kind, inject.NoticeKind("")), a.Summary()))
		}
	}
	return out
}

// ReminderNotices are a turn's reminders, each a message of its own (R1).
func ReminderNotices(reminders []reminder.Notice) []provider.Message {
	var out []provider.Message
	for _, n := range reminders {
		out = append(out, notice(n.Text, n.Kind, n.Summary))
	}
	return out
}

func notice(text, kind, summary string) provider.Message {
	m := provider.Text(schema.RoleUser, text)
	m.Source = &provider.Source{Kind: kind, Form: inject.NoticeForm, Summary: summary}
	return m
}
