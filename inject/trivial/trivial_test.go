package trivial_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/trivial"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestTrivialR4(t *testing.T) {
	for claim, texts := range map[string][]string{
		"nothing":                {"", " ", "\n\t ", "\u3000", "\u200b\ufeff"},
		"punctuation or symbols": {"?", "!!!", "...", "…", "。。。", "？", "-", "->", ":)", "$", "+", "/", "//"},
		"emoji":                  {"👍", "👍🏽", "❤️", "👨‍👩‍👧", "🇺🇸", "1️⃣", "ℹ️", "👍 👍", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"},
		"a slash command alone":  {"/compact", "/a", "/Help_me-2", "  /compact\n", "／compact", "/a" + strings.Repeat("b", 23)},
		"an acknowledgement":     {"ok", "yes", "thanks", "no", "k", "好的", "嗯", "收到", "谢谢", "got it", "thank you"},
		"a greeting":             {"hello", "hi", "你好", "good morning", "早上好"},
		"a word to go on":        {"continue", "继续", "go on", "keep going", "下一步", "請繼續"},
		"any case":               {"OK", "Thanks", "CONTINUE", "Got It"},
		"trailing punctuation":   {"ok.", "ok!", "thanks!!!", "好的。", "继续……", "继续～", "ok :)", "ok👍", "嗯…", "hello,"},
		"repeated":               {"ok ok", "ok, ok", "okok", "嗯嗯嗯", "好的好的", "haha haha", "谢谢，谢谢！", strings.Repeat("ok ", 300)},
		"one after another":      {"ok, thanks", "好的，继续", "好的谢谢", "yes please", "ok好的", "嗯…好的"},
		"compatibility forms":    {"ＯＫ", "ⓞⓚ", "ｃｏｎｔｉｎｕｅ"},
		"marks and format":       {"o\u0301k", "ok\ufe0f", "o\u200bk", "o\u0336k\u0336", "好\u200d的", "ok\u00ad", "\u202eok"},
		"parted by other spaces": {"  ok\u2028ok\u3000ok"},
	} {
		for _, text := range texts {
			assert.True(t, (*trivial.Table)(nil).Text(text), "%s: %q", claim, text)
		}
	}
}

func TestSubstantiveR4(t *testing.T) {
	for _, text := range []string{
		"继续帮我看看那个报错", "嗯，那图谱怎么刷新？", "/api/v1 报错", "/compact now", "no, delete it", "k8s", "1", "①", "42!",
		"/1", "/a/b", "/compact.", "/é", "/a" + strings.Repeat("b", 24), "// ok", "/帮助",
		"okra", "yesterday", "noon", "goon", "hinext", "thank", "next.js", "ok.go", "no-go", "k=yes", "ok/no", "@ok", "#ok", "v1", "no1",
		"好吗", "行不行", "是不是", "对不起，删掉它", "好的，删除它", "不好", "可以吗",
		"why?", "continue with the tests", "hello world", "ok\x00rm", strings.Repeat("ok ", 400), strings.Repeat("?", 5000) + "a",
		"Ok but use tabs", "ｋ８ｓ",
	} {
		assert.False(t, (*trivial.Table)(nil).Text(text), "%q", text)
	}
}

// R4: what is attached says something, alone or beside a trivial word.
func TestAttachmentsAreSubstantiveR4(t *testing.T) {
	link := schema.ContentBlock{Type: schema.BlockResourceLink, URI: "file:///a", Name: "a"}
	doc := schema.ContentBlock{Type: schema.BlockResource, Resource: &schema.Resource{URI: "file:///a"}}
	var table *trivial.Table
	assert.False(t, table.Input([]schema.ContentBlock{link}))
	assert.False(t, table.Input([]schema.ContentBlock{doc}))
	assert.False(t, table.Input([]schema.ContentBlock{{Type: "image"}}))
	assert.False(t, table.Input([]schema.ContentBlock{schema.TextBlock("ok"), link}))
	assert.True(t, table.Input([]schema.ContentBlock{schema.TextBlock("ok"), schema.TextBlock("thanks")}))
	assert.False(t, table.Input([]schema.ContentBlock{schema.TextBlock("ok"), schema.TextBlock("why")}))
	assert.True(t, table.Input(nil))
}

func TestTrivialWordsAddR4(t *testing.T) {
	table, err := trivial.With([]string{"Órale", "weiter so", "はい", "네"})
	require.NoError(t, err)
	for _, text := range []string{"orale!", "Weiter so.", "はいはい", "네", "ok, weiter so"} {
		assert.True(t, table.Text(text), text)
		if text != "ok" {
			assert.False(t, (*trivial.Table)(nil).Text(text), text)
		}
	}
	assert.False(t, table.Text("weiter"))
	assert.Equal(t, []string{"Órale", "weiter so", "はい", "네"}, table.Words())
}

func TestWordsThatCannotBeAdded(t *testing.T) {
	_, err := trivial.With([]string{"..."})
	assert.ErrorIs(t, err, trivial.ErrNoWord)
	_, err = trivial.With([]string{strings.Repeat("a", 65)})
	assert.ErrorIs(t, err, trivial.ErrTooLong)
	_, err = trivial.With(make([]string, 257))
	assert.ErrorIs(t, err, trivial.ErrTooMany)
	none, err := trivial.With(nil)
	require.NoError(t, err)
	assert.Empty(t, none.Words())
}

// Marks, format characters and case change nothing, whatever the text.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "ok", "好的，继续", "/api/v1", "k8s", "1️⃣", "\xff", "ok\xffok", "e\u0301", "ﬁne", "ℹ", "İ", "ẞ", "\U0001f1fa"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var table *trivial.Table
		got := table.Text(s)
		if len(s) > 300 {
			return
		}
		assert.Equal(t, got, table.Text(s+"\u200b"), "a format character behind it")
		if got && s != "" && s[0] != '/' && !strings.ContainsAny(s, "/") {
			assert.True(t, table.Text(s+" "+s), "said twice")
		}
	})
}
