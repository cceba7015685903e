package plain

import "strings"

// longestMeant is the length in bytes past which no word is taken for a
// misspelling.
const longestMeant = 128

// Nearest is the known word that was probably meant: the one that takes the
// fewest edits to reach, the first of equals, in any case; empty when all take
// more than a third of the word's characters.
func Nearest(word string, known []string) string {
	if len(word) > longestMeant {
		return ""
	}
	meant := []rune(strings.ToLower(word))
	best, limit := "", len(meant)/3
	for _, k := range known {
		if d := edits(meant, []rune(strings.ToLower(k)), limit); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// edits counts the characters to insert, remove, change or swap with a
// neighbour on the way from a to b; above limit it only says so.
func edits(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = last[j]
				continue
			}
			row[j+1] = 1 + min(last[j], last[j+1], row[j])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], 1+before[j-1])
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
