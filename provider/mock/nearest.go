package mock

// nearest is the known word that takes the fewest edits to reach, the first of
// equals; empty when all take more than a third of the word's length.
func nearest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	best, limit := "", len(word)/3
	for _, k := range known {
		if d := distance(word, k); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// distance counts the bytes to insert, remove or change on the way from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
