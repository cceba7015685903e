package main

import (
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/schema"
)

// reminders stand behind the input of each turn that asks for something. With
// a Path they are also those that the user saved there.
func reminders() *reminder.Store {
	on := true
	return reminder.New(reminder.Options{Base: reminder.Layer{
		Enabled: &on,
		Prompts: []schema.Reminder{{ID: "wiki", Title: "Check the wiki", Text: "Search the wiki before answering facts.", Enabled: true}},
	}})
}
