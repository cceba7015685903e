package inject

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
)

// maxFindings bounds how many places one text's warnings name.
const maxFindings = 8

// CleanWorkspaceText is CleanText for a file that the workspace holds: what
// can't be seen is taken out of it as well (P23). The warnings name what was
// taken out, by code point and by its offset in b, and what in the text looks
// like an attack or like a secret; neither keeps the file from being used.
func CleanWorkspaceText(b []byte) (text string, warnings []string, err error) {
	if _, err := CleanText(b); err != nil {
		return "", nil, err
	}
	seen, found := withoutInvisible(string(b))
	if text, err = CleanText([]byte(seen)); err != nil {
		return "", nil, fmt.Errorf("without its invisible characters the %w", err)
	}
	warnings = append(reportInvisible(found, "taken out"), Suspicions(text)...)
	return text, warnings, nil
}

// CleanWorkspaceBlocks takes what can't be seen out of the text of blocks that
// the workspace wrote, and warns as CleanWorkspaceText does. Offsets count in
// the text that they are of. blocks stay unchanged.
func CleanWorkspaceBlocks(blocks []schema.ContextBlock) ([]schema.ContextBlock, []string) {
	blocks = plainCopy.contextBlocks(blocks)
	var warnings []string
	for i := range blocks {
		at := "contextBlocks[" + strconv.Itoa(i) + "]"
		warnings = append(warnings, cleanIn(at+".title", &blocks[i].Title)...)
		for j := range blocks[i].Content {
			c := &blocks[i].Content[j]
			warnings = append(warnings, cleanIn(at+".content", &c.Text)...)
			if c.Resource != nil {
				warnings = append(warnings, cleanIn(at+".content", &c.Resource.Text)...)
			}
		}
	}
	return blocks, warnings
}

// CleanWorkspaceTitle is CleanWorkspaceBlocks for a title.
func CleanWorkspaceTitle(title string) (string, []string) {
	seen, found := withoutInvisible(title)
	return seen, reportInvisible(found, "taken out")
}

func cleanIn(where string, text *string) []string {
	seen, found := withoutInvisible(*text)
	*text = seen
	out := append(reportInvisible(found, "taken out"), Suspicions(seen)...)
	for i := range out {
		out[i] = where + ": " + out[i]
	}
	return out
}

// Invisible warns of what can't be seen in the text of a file that is used as
// it is.
func Invisible(b []byte) []string {
	_, found := withoutInvisible(string(b))
	return reportInvisible(found, "left in")
}

// An unseen character, and where it stands.
type unseen struct {
	r      rune
	offset int // in bytes, from 0
}

// reportInvisible is one warning for all of them, nil for none.
func reportInvisible(found []unseen, done string) []string {
	if len(found) == 0 {
		return nil
	}
	places := make([]string, 0, maxFindings)
	for _, f := range found[:min(len(found), maxFindings)] {
		places = append(places, fmt.Sprintf("U+%04X at byte %d", f.r, f.offset))
	}
	text := "invisible text, " + done + ": " + strings.Join(places, ", ")
	if more := len(found) - maxFindings; more > 0 {
		text += ", and " + strconv.Itoa(more) + " more"
	}
	return []string{text}
}
