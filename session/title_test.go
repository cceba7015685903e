package session

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestTitleDoesNotKeepTheInputInMemory(t *testing.T) {
	input := "Fix this:\n" + strings.Repeat("much code\n", 1000)
	title := titleOf(input)
	assert.Equal(t, "Fix this:", title)
	assert.NotSame(t, unsafe.StringData(input), unsafe.StringData(title))
}
