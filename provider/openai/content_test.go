package openai

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
	"github.com/prism-rpc/prism-rpc/schema"
)

func content(v string) string { return `{"choices":[{"delta":{"content":` + v + `}}]}` }

func TestContentInParts(t *testing.T) {
	for name, row := range map[string]struct {
		content string
		want    hostile.Said
		stop    schema.StopReason
	}{
		"a text":                    {`[{"type":"text","text":"a"}]`, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"texts":                     {`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"a text that is cut":        {`[{"type":"text","text":"\ud83d"},{"type":"text","text":"\ude00"}]`, hostile.Said{Text: "😀"}, schema.StopEndTurn},
		"a text under a newer name": {`[{"type":"output_text","text":"a"}]`, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"a text without a type":     {`[{"text":"a"},"b"]`, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"one part and no list":      {`{"type":"text","text":"a"}`, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"others beside a text":      {`[{"type":"image_url","image_url":{}},{"type":"text","text":"a"},5,null]`, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"reasoning beside a text":   {`[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"thinking","thinking":"!"},{"type":"text","text":"a"}]`, hostile.Said{Text: "a", Thinking: "hm!"}, schema.StopEndTurn},
		"a refusal":                 {`[{"type":"refusal","refusal":"No."}]`, hostile.Said{Text: "No."}, schema.StopRefusal},
		"no parts":                  {`[]`, hostile.Said{}, schema.StopEndTurn},
		"an empty text":             {`[{"type":"text","text":""}]`, hostile.Said{}, schema.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(content(row.content), finish("stop"))), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.stop, res.StopReason)
			})
		})
	}
}

// An answer that came, but not as text, is no empty end of a turn.
func TestAnAnswerThatIsNotUnderstoodIsAnError(t *testing.T) {
	choice := func(members string) string { return `{"choices":[{` + members + `}]}` }
	for name, row := range map[string]struct {
		events []string
		class  provider.Class
	}{
		"parts of no known kind":        {[]string{content(`[{"type":"image_url","image_url":{"url":"x"}}]`), finish("stop")}, provider.ClassBadRequest},
		"a part of no known form":       {[]string{content(`[{"type":"text","text":{"value":"a"}}]`), finish("stop")}, provider.ClassBadRequest},
		"a number":                      {[]string{content(`5`), finish("stop")}, provider.ClassBadRequest},
		"an object of another kind":     {[]string{content(`{"parts":["a"]}`), finish("stop")}, provider.ClassBadRequest},
		"cut short":                     {[]string{content(`[5]`), finish("length")}, provider.ClassBadRequest},
		"beside some reasoning":         {[]string{choice(`"delta":{"reasoning":"hm"}`), content(`[5]`), finish("stop")}, provider.ClassBadRequest},
		"a message and no delta":        {[]string{choice(`"message":{"content":"a"}`), finish("stop")}, provider.ClassBadRequest},
		"a text of the older API":       {[]string{choice(`"text":"a"`), finish("stop")}, provider.ClassBadRequest},
		"a call of the older API":       {[]string{choice(`"delta":{"function_call":{"name":"f"}}`), finish("function_call")}, provider.ClassBadRequest},
		"sound":                         {[]string{choice(`"delta":{"audio":{"data":"x"}}`), finish("stop")}, provider.ClassBadRequest},
		"an unknown reason and no text": {[]string{finish("malformed_function_call")}, provider.ClassInterrupted},
		"reasoning, then DONE alone":    {[]string{choice(`"delta":{"reasoning":"hm"}`), "[DONE]"}, provider.ClassInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(append(row.events, "[DONE]")...)), hostile.Asking("hi"))
				assert.Equal(t, row.class, hostile.Failure(err).Class)
				assert.Nil(t, res)
				assert.Empty(t, got.Text)
			})
		})
	}
}
