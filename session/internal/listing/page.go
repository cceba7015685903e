package listing

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// A Cursor is the place in a list behind one row. The place stays where it is
// whatever rows come and go. The zero Cursor is the beginning.
type Cursor struct {
	updated int64
	id      string
}

// ParseCursor is the inverse of String; session.ErrCursor.
func ParseCursor(text string) (c Cursor, err error) {
	if text == "" {
		return c, nil
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return c, session.ErrCursor
	}
	_, err = fmt.Sscanf(string(plain), "%d %s", &c.updated, &c.id)
	if err != nil || !inRange(c.updated) || !schema.ValidSessionID(c.id) || c.String() != text {
		return Cursor{}, session.ErrCursor
	}
	return c, nil
}

// String is the cursor for a client to hand back, and nothing for it to read.
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", c.updated, c.id))
}

// before tells whether r stands behind the cursor.
func (c Cursor) before(r *Row) bool {
	return c.id == "" || order(c, Cursor{r.Updated, r.ID}) < 0
}

// order puts the newest first.
func order(a, b Cursor) int {
	return cmp.Or(cmp.Compare(b.updated, a.updated), strings.Compare(a.id, b.id))
}

// Page is the page of rows behind from, as session.Store's List returns it.
// It reorders rows.
func Page(rows []*Row, from Cursor, limit int, cwd string) (page []schema.SessionInfo, next string) {
	rows = slices.DeleteFunc(rows, func(r *Row) bool { return !from.before(r) || cwd != "" && r.CWD != cwd })
	slices.SortFunc(rows, func(a, b *Row) int { return order(Cursor{a.Updated, a.ID}, Cursor{b.Updated, b.ID}) })
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		next = Cursor{last.Updated, last.ID}.String()
	}
	page = make([]schema.SessionInfo, len(rows))
	for i, r := range rows {
		page[i] = r.Info()
	}
	return page, next
}
