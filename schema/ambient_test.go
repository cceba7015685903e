package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

func TestA5_a_name_that_is_no_heading_is_refused_when_it_is_added(t *testing.T) {
	for claim, name := range map[string]string{
		"LF": "a\nb", "CR": "a\rb", "NEL": "a\u0085b", "line separator": "a\u2028b", "paragraph separator": "a\u2029b",
		"a newline at the end": "a\n", "vertical tab": "a\vb", "form feed": "a\fb", "escape": "a\x1b[31m", "NUL": "a\x00b",
		"not UTF-8": "a\xff", "empty": "", "too long": strings.Repeat("x", schema.MaxTitleBytes+1),
	} {
		t.Run(claim, func(t *testing.T) {
			content := "x"
			var bad *schema.ParamsError
			require.ErrorAs(t, schema.Validate(&schema.SpliceContextParams{Name: name, Content: &content}), &bad)
			assert.Equal(t, "name", bad.Errors[0].Field)
			bad = schema.CheckAmbient("contextBlocks", []schema.AmbientBlock{{Name: "fine"}, {Name: name}})
			require.NotNil(t, bad)
			assert.Equal(t, "contextBlocks[1].name", bad.Errors[0].Field)
		})
	}
}

func TestA5_other_names_are_taken(t *testing.T) {
	for _, name := range []string{"a", "  blank ends  ", "# a heading", "<b>", "日本語", "🙂", "a\u00a0b", strings.Repeat("x", schema.MaxTitleBytes)} {
		assert.Nil(t, schema.CheckAmbient("contextBlocks", []schema.AmbientBlock{{Name: name}}), name)
	}
}

func TestA6_what_a_splice_may_be(t *testing.T) {
	large := strings.Repeat("x", schema.MaxAmbientBytes-1)
	for claim, c := range map[string]struct{ params, field string }{
		"a block":                       {`{"name":"n","content":"c"}`, ""},
		"empty content":                 {`{"name":"n","content":""}`, ""},
		"with all there is":             {`{"sessionId":"s","name":"n","content":"c","id":"plan:1/a","lifetime":"next"}`, ""},
		"as large as it may be":         {`{"name":"n","content":"` + large + `"}`, ""},
		"larger":                        {`{"name":"n","content":"` + large + `x"}`, "content"},
		"without a name":                {`{"content":"c"}`, "name"},
		"without content":               {`{"name":"n"}`, "content"},
		"a lifetime that there isn't":   {`{"name":"n","content":"c","lifetime":"turn"}`, "lifetime"},
		"an id with a blank":            {`{"name":"n","content":"c","id":"a b"}`, "id"},
		"an empty id":                   {`{"name":"n","content":"c","id":""}`, "id"},
		"an id that is too long":        {`{"name":"n","content":"c","id":"` + strings.Repeat("x", 129) + `"}`, "id"},
		"content that is a block":       {`{"name":"n","content":[{"type":"text","text":"c"}]}`, "content"},
		"a field that there isn't":      {`{"name":"n","content":"c","priority":1}`, "priority"},
		"a name over the bound in text": {`{"name":"` + strings.Repeat("é", 257) + `","content":"c"}`, "name"},
	} {
		t.Run(claim, func(t *testing.T) {
			err := schema.Decode([]byte(c.params), &schema.SpliceContextParams{})
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			var bad *schema.ParamsError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, c.field, bad.Errors[0].Field)
		})
	}
}
