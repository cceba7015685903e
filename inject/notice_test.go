package inject_test

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestSummaryR7(t *testing.T) {
	family, flag := "👨\u200d👩\u200d👧", "🇺🇸"
	for claim, tt := range map[string]struct{ title, want string }{
		"a short title":             {"Check the wiki", "Check the wiki"},
		"none: the name":            {"", "wiki"},
		"white space: the name":     {" \t", "wiki"},
		"120 fit":                   {strings.Repeat("é", 120), strings.Repeat("é", 120)},
		"121 are cut":               {strings.Repeat("é", 121), strings.Repeat("é", 119) + "…"},
		"emoji are one":             {strings.Repeat(family, 120), strings.Repeat(family, 120)},
		"and are not cut in pieces": {strings.Repeat(flag+family, 70), strings.Repeat(flag+family, 59) + flag + "…"},
		"letters with their marks":  {strings.Repeat("e\u0301", 130), strings.Repeat("e\u0301", 119) + "…"},
		"control characters":        {"a\nb\tc\u0085\x1b[31m", `a\u000ab\u0009c\u0085\u001b[31m`},
		"bidi":                      {"a\u202eb\u2066", `a\u202eb\u2066`},
		"invisible ones":            {"a\u200bb\ufeff\U000e0041", `a\u200bb\ufeff\U000e0041`},
		"a joiner that joins":       {"می\u200cخواهم", "می\u200cخواهم"},
		"joiners that don't":        {"\u200da\u200d\u200d", `\u200da` + "\u200d" + `\u200d`},
	} {
		t.Run(claim, func(t *testing.T) {
			got := inject.Summary(tt.title, "wiki")
			assert.Equal(t, tt.want, got)
			assert.LessOrEqual(t, uniseg.GraphemeClusterCount(got), 120)
		})
	}
}

func TestSummaryIsBoundedInBytesR7(t *testing.T) {
	got := inject.Summary("a"+strings.Repeat("\u0301", 100_000), "x")
	assert.LessOrEqual(t, len(got), 4096)
	assert.True(t, strings.HasSuffix(got, "…"))
}

func TestProducerAndRetentionOfANoticeR8(t *testing.T) {
	spec := schema.InjectorSpec{Placement: "notice", Instructions: "text", Producer: "@team/wiki", Retention: "keep"}
	applied, _ := apply(t, inject.Context{}, fromSpec(t, spec))
	require.Len(t, applied, 1)
	assert.True(t, applied[0].Keep)
	assert.Equal(t, "plugin:@team/wiki", applied[0].Injected()[0].Kind)
}

func TestWhoMayGiveNoticesR8(t *testing.T) {
	for _, name := range []string{"prism-rpc", "a", "A.b_c-d", "@scope/name", "0", strings.Repeat("x", 64)} {
		assert.True(t, schema.ValidProducer(name), name)
	}
	for _, name := range []string{"", "plugin", "plugin:x", "a b", "-a", ".a", "_a", "/a", "é", "a\n", "a\x00", strings.Repeat("x", 65)} {
		assert.False(t, schema.ValidProducer(name), name)
	}
}
