package reminder_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func at(t *testing.T) string { return filepath.Join(t.TempDir(), "prism-rpc", "reminders.json") }

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func set(t *testing.T, s *reminder.Store, params string) (schema.Reminders, error) {
	t.Helper()
	var p schema.SetRemindersParams
	require.NoError(t, schema.Decode([]byte(params), &p))
	got, err := s.Begin(&p, nil)(t.Context())
	if err != nil {
		return schema.Reminders{}, err
	}
	return got.Wire(nil), nil
}

func base() reminder.Layer {
	off := false
	return reminder.Layer{SkipTrivial: &off, Prompts: []schema.Reminder{row("configured", "everyTurn")}}
}

func ids(s *reminder.Settings) (out []string) {
	for _, row := range s.Prompts {
		out = append(out, row.ID)
	}
	return out
}

func TestTheListStartsEmptyR5(t *testing.T) {
	s := reminder.New(reminder.Options{Path: at(t)}).Settings().Wire(nil)
	assert.Equal(t, schema.Reminders{Revision: s.Revision, Enabled: true, SkipTrivial: true, Producer: "prism-rpc", Prompts: []schema.Reminder{}, Warnings: []string{}}, s)
}

func TestTheUsersLayerOverridesR6(t *testing.T) {
	for claim, tt := range map[string]struct {
		file    string
		enabled bool
		skips   bool
		ids     []string
	}{
		"no file":                {"", true, false, []string{"configured"}},
		"an empty one":           {"{}", true, false, []string{"configured"}},
		"enabled alone":          {`{"enabled":false}`, false, false, []string{"configured"}},
		"skipTrivial alone":      {`{"skipTrivial":true}`, true, true, []string{"configured"}},
		"prompts alone":          {`{"prompts":[{"id":"own","text":"x"}]}`, true, false, []string{"own"}},
		"an explicit empty list": {`{"prompts":[]}`, true, false, nil},
		"a byte order mark":      {"\ufeff{\"enabled\":false}\r\n", false, false, []string{"configured"}},
	} {
		t.Run(claim, func(t *testing.T) {
			path := at(t)
			if tt.file != "" {
				write(t, path, tt.file)
			}
			s := reminder.New(reminder.Options{Base: base(), Path: path}).Settings()
			assert.Equal(t, tt.enabled, s.Enabled)
			assert.Equal(t, tt.skips, s.SkipTrivial)
			assert.Equal(t, tt.ids, ids(s))
			assert.Empty(t, s.Warnings)
		})
	}
}

func TestSaveR6(t *testing.T) {
	path := at(t)
	s := reminder.New(reminder.Options{Base: base(), Path: path})
	first, err := set(t, s, `{"prompts":[{"id":"wiki","title":"Check","text":"Search."},{"text":"made"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []schema.Reminder{
		{ID: "wiki", Title: "Check", Text: "Search.", Enabled: true, Trigger: "everyTurn"},
		{ID: "reminder-2", Title: "Reminder", Text: "made", Enabled: true, Trigger: "everyTurn"},
	}, first.Prompts)
	assert.False(t, first.SkipTrivial, "what isn't given stays")

	second, err := set(t, s, `{"enabled":false,"revision":"`+first.Revision+`"}`)
	require.NoError(t, err)
	assert.Len(t, second.Prompts, 2)
	assert.Equal(t, second, reminder.New(reminder.Options{Base: base(), Path: path}).Settings().Wire(nil), "another process reads the same")

	var kept map[string]any
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &kept))
	assert.NotContains(t, kept, "skipTrivial", "only what the user said is kept")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	third, err := set(t, s, `{"prompts":null,"enabled":null}`)
	require.NoError(t, err)
	assert.Equal(t, reminder.New(reminder.Options{Base: base()}).Settings().Wire(nil), third, "null restores the configuration's")
}

func TestStaleRevisionR6(t *testing.T) {
	path := at(t)
	a, b := reminder.New(reminder.Options{Path: path}), reminder.New(reminder.Options{Path: path})
	read := a.Settings().Wire(nil).Revision
	_, err := set(t, b, `{"enabled":false}`)
	require.NoError(t, err)
	_, err = set(t, a, `{"prompts":[],"revision":"`+read+`"}`)
	var stale *reminder.StaleError
	require.ErrorAs(t, err, &stale)
	assert.Equal(t, b.Settings().Wire(nil).Revision, stale.Revision)
	_, err = set(t, a, `{"prompts":[],"revision":"`+stale.Revision+`"}`)
	assert.NoError(t, err)
}

func TestLiveInOtherProcessesR6(t *testing.T) {
	path := at(t)
	var told []*reminder.Settings
	a := reminder.New(reminder.Options{Path: path, OnChange: func(s *reminder.Settings) { told = append(told, s) }})
	b := reminder.New(reminder.Options{Path: path})
	assert.Empty(t, a.Settings().Prompts)
	for i, text := range []string{"one", "two", "one", "six"} { // of one length, in quick succession
		_, err := set(t, b, `{"prompts":[{"id":"x","text":"`+text+`"}]}`)
		require.NoError(t, err)
		assert.Equal(t, text, a.Settings().Prompts[0].Text)
		assert.Len(t, told, i+1)
		a.Settings()
		assert.Len(t, told, i+1, "told once")
	}
	write(t, path, `{"prompts":[{"id":"x","text":"by hand"}]}`)
	assert.Equal(t, "by hand", a.Settings().Prompts[0].Text)
	require.NoError(t, os.Remove(path))
	assert.Empty(t, a.Settings().Prompts)
	assert.Len(t, told, 6)
}

func TestOwnChangesAreToldOnceR6(t *testing.T) {
	told := 0
	s := reminder.New(reminder.Options{Path: at(t), OnChange: func(*reminder.Settings) { told++ }})
	_, err := set(t, s, `{"enabled":true}`)
	require.NoError(t, err)
	assert.Zero(t, told, "it was on")
	_, err = set(t, s, `{"enabled":false}`)
	require.NoError(t, err)
	s.Settings()
	assert.Equal(t, 1, told)
}

// R6: of two processes that change other settings at once, both changes stand.
func TestChangesAtOnceR6(t *testing.T) {
	path := at(t)
	var wait sync.WaitGroup
	for _, params := range []string{`{"enabled":false}`, `{"skipTrivial":false}`, `{"producer":"me"}`, `{"prompts":[{"id":"a","text":"a"}]}`} {
		wait.Go(func() {
			_, err := set(t, reminder.New(reminder.Options{Path: path}), params)
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	s := reminder.New(reminder.Options{Path: path}).Settings()
	assert.Equal(t, []any{false, false, "me", []string{"a"}}, []any{s.Enabled, s.SkipTrivial, s.Producer, ids(s)})
}

// R6, §9: what was begun is in force for whoever asks behind it.
func TestABegunChangeIsWaitedForR6(t *testing.T) {
	s := reminder.New(reminder.Options{Path: at(t)})
	save := s.Begin(&schema.SetRemindersParams{Enabled: schema.Patch[bool]{Given: true}}, nil)
	next := s.Begin(&schema.SetRemindersParams{SkipTrivial: schema.Patch[bool]{Given: true}}, nil)
	seen := make(chan *reminder.Settings)
	go func() { seen <- s.Settings() }() // received below
	go func() { _, _ = next(context.WithoutCancel(t.Context())) }()
	_, err := save(t.Context())
	require.NoError(t, err)
	got := <-seen
	assert.False(t, got.Enabled)
	assert.False(t, got.SkipTrivial)
}

// R6, §9: what is asked for first is what was in force then.
func TestAReadComesBeforeALaterChangeR6(t *testing.T) {
	s := reminder.New(reminder.Options{Path: at(t)})
	get := s.BeginRead()
	save := s.Begin(&schema.SetRemindersParams{Enabled: schema.Patch[bool]{Given: true}}, nil)
	saved := make(chan error)
	go func() { // received below
		_, err := save(context.WithoutCancel(t.Context()))
		saved <- err
	}()
	assert.True(t, get().Enabled)
	require.NoError(t, <-saved)
	assert.False(t, s.BeginRead()().Enabled)
}

func TestWhatCannotBeSavedR6(t *testing.T) {
	path := at(t)
	require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600)) // a file where the folder would be
	s := reminder.New(reminder.Options{Base: base(), Path: path})
	_, err := set(t, s, `{"enabled":false}`)
	assert.ErrorIs(t, err, reminder.ErrSave)
	assert.True(t, s.Settings().Enabled, "nothing has changed")
	assert.Equal(t, []string{"configured"}, ids(s.Settings()))
}

func TestInMemoryR6(t *testing.T) {
	s := reminder.New(reminder.Options{Base: base()})
	got, err := set(t, s, `{"prompts":[{"id":"a","text":"b"}]}`)
	require.NoError(t, err)
	assert.Equal(t, got, s.Settings().Wire(nil))
	_, err = set(t, s, `{"enabled":false,"revision":"0"}`)
	var stale *reminder.StaleError
	assert.ErrorAs(t, err, &stale)
}

// R8: a file that can't be used leaves the configuration's reminders, with a
// warning, and is not written over.
func TestABrokenFileR8(t *testing.T) {
	for claim, make := range map[string]func(t *testing.T, path string){
		"no JSON":     func(t *testing.T, path string) { write(t, path, `{"enabled": fal`) },
		"no object":   func(t *testing.T, path string) { write(t, path, `[]`) },
		"null":        func(t *testing.T, path string) { write(t, path, `null`) },
		"a key twice": func(t *testing.T, path string) { write(t, path, `{"enabled":true,"enabled":false}`) },
		"too large":   func(t *testing.T, path string) { write(t, path, strings.Repeat(" ", 9<<20)) },
		"too deep":    func(t *testing.T, path string) { write(t, path, `{"prompts":`+strings.Repeat("[", 1<<20)) },
		"a folder":    func(t *testing.T, path string) { require.NoError(t, os.MkdirAll(path, 0o700)) },
		"a link":      link,
		"a dangling link": func(t *testing.T, path string) {
			write(t, path+"x", "{}")
			require.NoError(t, os.Symlink("gone", path))
		},
	} {
		t.Run(claim, func(t *testing.T) {
			path := at(t)
			make(t, path)
			told := 0
			s := reminder.New(reminder.Options{Base: base(), Path: path, OnChange: func(*reminder.Settings) { told++ }})
			got := s.Settings()
			assert.Equal(t, []string{"configured"}, ids(got))
			require.Len(t, got.Warnings, 1)
			assert.NotContains(t, got.Warnings[0], filepath.Dir(path))
			s.Settings()
			assert.Equal(t, 1, told)
			before, _ := os.ReadFile(path)
			_, err := set(t, s, `{"enabled":false}`)
			assert.ErrorIs(t, err, reminder.ErrSave)
			after, _ := os.ReadFile(path)
			assert.Equal(t, string(before), string(after))
		})
	}
}

func link(t *testing.T, path string) {
	write(t, path+".target", `{"prompts":[{"id":"linked","text":"x"}]}`)
	require.NoError(t, os.Symlink(path+".target", path))
}

func TestSecretsAreNotSavedP26(t *testing.T) {
	red, err := redact.New(redact.Value{Secret: redact.NewSecret("canary-secret-42")})
	require.NoError(t, err)
	path := at(t)
	s := reminder.New(reminder.Options{Path: path})
	text := "use canary-secret-42"
	p := &schema.SetRemindersParams{Prompts: schema.Patch[[]schema.ReminderRow]{Given: true, Value: []schema.ReminderRow{{ID: "a", Title: text, Text: &text}}}}
	_, err = s.Begin(p, red)(t.Context())
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "canary")
	assert.Equal(t, "use canary-secret-42", *p.Prompts.Value[0].Text, "the params are the caller's")
}

func TestUnknownMembersStayR5(t *testing.T) {
	path := at(t)
	write(t, path, `{"later":{"x":1},"enabled":true}`)
	s := reminder.New(reminder.Options{Path: path})
	_, err := set(t, s, `{"enabled":false}`)
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.JSONEq(t, `{"later":{"x":1},"enabled":false}`, string(data))
}
