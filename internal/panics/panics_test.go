package panics_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/internal/panics"
)

func explode() { panic("a secret") }

func guarded(report func(string)) {
	defer panics.Recover("the test", report)
	explode()
}

func TestRecoverSaysTypeAndPlaceNeverTheValue(t *testing.T) {
	var said string
	guarded(func(text string) { said = text })
	assert.Regexp(t, `^the test panicked with a string in .*panics_test\.explode, .*panics_test\.guarded, `, said)
	assert.NotContains(t, said, "secret")
}

func TestRecoverWithoutAPanicSaysNothing(t *testing.T) {
	func() { defer panics.Recover("x", func(string) { t.Error("reported") }) }()
	assert.Nil(t, panics.Functions())
}
