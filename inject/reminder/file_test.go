package reminder_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/schema"
)

func stored(t *testing.T, file string) *reminder.Settings {
	t.Helper()
	path := at(t)
	write(t, path, file)
	return reminder.New(reminder.Options{Path: path}).Settings()
}

func TestRowsOfAFileR5(t *testing.T) {
	plain := schema.Reminder{ID: "a", Title: "T", Text: "x", Enabled: true, Trigger: "everyTurn"}
	with := func(change func(*schema.Reminder)) []schema.Reminder {
		r := plain
		change(&r)
		return []schema.Reminder{r}
	}
	for claim, tt := range map[string]struct {
		prompts  string
		want     []schema.Reminder
		warnings int
	}{
		"as it should be":             {`[{"id":"a","title":"T","text":"x","enabled":true,"trigger":"everyTurn"}]`, []schema.Reminder{plain}, 0},
		"what is missing is made":     {`[{"text":"x"}]`, with(func(r *schema.Reminder) { r.ID, r.Title = "reminder-1", "Reminder" }), 0},
		"an empty title":              {`[{"id":"a","title":" ","text":"x"}]`, with(func(r *schema.Reminder) { r.Title = "Reminder" }), 0},
		"no text":                     {`[{"id":"a","title":"T"}]`, with(func(r *schema.Reminder) { r.Text = "" }), 0},
		"disabled":                    {`[{"id":"a","title":"T","text":"x","enabled":false}]`, with(func(r *schema.Reminder) { r.Enabled = false }), 0},
		"post_compaction":             {`[{"id":"a","title":"T","text":"x","trigger":"post_compaction"}]`, with(func(r *schema.Reminder) { r.Trigger = "postCompaction" }), 0},
		"every_turn":                  {`[{"id":"a","title":"T","text":"x","trigger":"every_turn"}]`, []schema.Reminder{plain}, 0},
		"an unknown trigger, R2":      {`[{"id":"a","title":"T","text":"x","trigger":"daily"}]`, []schema.Reminder{plain}, 1},
		"an unknown retention":        {`[{"id":"a","title":"T","text":"x","retention":"for ever"}]`, []schema.Reminder{plain}, 1},
		"the retired producer, R8":    {`[{"id":"a","title":"T","text":"x","producer":"plugin"}]`, []schema.Reminder{plain}, 1},
		"an id that can't be one":     {`[{"id":"a\u202e","title":"T","text":"x"}]`, with(func(r *schema.Reminder) { r.ID = "reminder-1" }), 1},
		"an unknown member":           {`[{"id":"a","title":"T","text":"x","triger":"postCompaction"}]`, []schema.Reminder{plain}, 1},
		"true in quotes is not true":  {`[{"id":"a","title":"T","text":"x","enabled":"true"}]`, with(func(r *schema.Reminder) { r.Enabled = false }), 1},
		"a text that is a number":     {`[{"id":"a","title":"T","text":7}]`, with(func(r *schema.Reminder) { r.Enabled, r.Text = false, "" }), 1},
		"rows that are no objects":    {`[1,"x",null,[],true,{"id":"a","title":"T","text":"x"}]`, []schema.Reminder{plain}, 5},
		"a NUL":                       {`[{"id":"b","text":"a\u0000b"},{"id":"a","title":"T","text":"x"}]`, []schema.Reminder{plain}, 1},
		"a text past its bound":       {`[{"id":"b","text":"` + strings.Repeat("x", 16<<10+1) + `"},{"id":"a","title":"T","text":"x"}]`, []schema.Reminder{plain}, 1},
		"a title past its bound":      {`[{"id":"a","title":"` + strings.Repeat("é", 300) + `","text":"x"}]`, with(func(r *schema.Reminder) { r.Title = strings.Repeat("é", 256) }), 1},
		"no list":                     {`{"id":"a"}`, nil, 1},
		"an explicit empty list":      {`[]`, []schema.Reminder{}, 0},
		"a lone surrogate":            {`[{"id":"a","title":"T","text":"\ud800"}]`, with(func(r *schema.Reminder) { r.Text = "\ufffd" }), 0},
		"a row's member stands twice": {`[{"id":"a","title":"T","text":"x","text":"y"}]`, nil, 1},
	} {
		t.Run(claim, func(t *testing.T) {
			s := stored(t, `{"prompts":`+tt.prompts+`}`)
			assert.Equal(t, tt.want, s.Prompts)
			assert.Len(t, s.Warnings, tt.warnings, "%q", s.Warnings)
		})
	}
}

func TestIDsAreMadeUniqueR5(t *testing.T) {
	s := stored(t, `{"prompts":[{"id":"a"},{"id":"a"},{"id":"a-2"},{"id":"a"},{"enabled":false},{"id":"reminder-5","enabled":false},{"id":"reminder-5"}]}`)
	got := ids(s)
	assert.Equal(t, []string{"a", "a-3", "a-2", "a-4", "reminder-5-2", "reminder-5", "reminder-5-3"}, got)
	assert.Len(t, s.Warnings, 3)
}

func TestWrongTypesOfAFileR5(t *testing.T) {
	s := stored(t, `{"enabled":"false","skipTrivial":0,"producer":"a b","prompts":[{"id":"a","text":"x"}]}`)
	assert.True(t, s.Enabled)
	assert.True(t, s.SkipTrivial)
	assert.Equal(t, "prism-rpc", s.Producer)
	assert.Len(t, s.Warnings, 3)
}

func TestWhatCostsMuchIsWarnedOfR5(t *testing.T) {
	rows := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	assert.Empty(t, stored(t, `{"prompts":[`+rows(5, `{"text":"x"}`)+`,`+rows(3, `{"text":"x","trigger":"postCompaction"}`)+`,`+rows(3, `{"text":"x","enabled":false}`)+`]}`).Warnings)
	assert.Len(t, stored(t, `{"prompts":[`+rows(6, `{"text":"x"}`)+`]}`).Warnings, 1)
	assert.Len(t, stored(t, `{"prompts":[{"text":"`+strings.Repeat("é", 501)+`"}]}`).Warnings, 1)
	assert.Empty(t, stored(t, `{"prompts":[{"text":"`+strings.Repeat("é", 500)+`"}]}`).Warnings)
}

func TestTooManyRowsR5(t *testing.T) {
	s := stored(t, `{"prompts":[`+strings.Repeat(`{"text":"x","trigger":"postCompaction"},`, 64)+`{"text":"y"}]}`)
	assert.Len(t, s.Prompts, 64)
	assert.Len(t, s.Warnings, 1)
	s = stored(t, `{"prompts":[`+strings.Repeat(`0,`, 1<<20)+`0]}`)
	assert.Empty(t, s.Prompts)
	assert.LessOrEqual(t, len(s.Warnings), 60)
}

// R8: whatever a file holds, the reminders can be decided on, told and saved.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[]", "\ufeff{}", `{"enabled":1}`, `{"prompts":[[],{},null,{"id":1}]}`, `{"prompts":[{"id":"\ud800","text":"\u0000"}]}`,
		`{"prompts":[{"id":"a"},{"id":"a"},{"id":"a-2"}],"later":{}}`, "{\"prompts\":[{\"text\":\"\xff\"}]}", `{"producer":"plugin"}`,
		`{"prompts":[{"text":"x","trigger":"postCompaction","retention":"keep","producer":"@a/b","title":"\u202e"}]}`,
		`{"enabled":true,"enabled":false}`, `{"prompts":` + strings.Repeat("[", 20000), "{\"a\\u0000\":1}", `{"` + strings.Repeat("k", 9000) + `":0}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		s, kept, err := reminder.ReadFile([]byte(file))
		if err != nil {
			assert.ErrorIs(t, err, reminder.ErrBroken)
			return
		}
		assert.LessOrEqual(t, len(s.Prompts), schema.MaxReminders)
		seen := map[string]bool{}
		for _, d := range s.Decide(reminder.Turn{Generation: 1}) {
			assert.True(t, schema.ValidInjectorName(d.ID), "%q", d.ID)
			assert.False(t, seen[d.ID])
			seen[d.ID] = true
			if d.Applied() {
				assert.True(t, utf8.ValidString(d.Notice(nil, nil).Text))
			}
		}
		again, _, err := reminder.ReadFile(kept)
		require.NoError(t, err, "what is saved is read again")
		assert.Equal(t, s.Wire(nil).Revision, again.Wire(nil).Revision)
	})
}
