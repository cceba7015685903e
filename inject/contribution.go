package inject

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/schema"
)

// What can be wrong with a contribution or an instruction file.
var (
	ErrWhen     = errors.New("unknown timing; use first_turn, every_turn or on_input")
	ErrTooLarge = errors.New("text is larger than 256 KiB")
	ErrNotUTF8  = errors.New("text is not valid UTF-8")
	ErrNUL      = errors.New("text holds a NUL character")
	ErrEmpty    = errors.New("text is empty")
	ErrMaxBytes = errors.New("text is larger than the injector's maxBytes")
)

// Check tells what is wrong with c: an unknown timing, a text or a list past
// its bound (256 KiB of instructions, 64 blocks of 256 KiB in all), text that
// no request can hold, a block without what its kind needs. An empty
// contribution is fine.
func (c Contribution) Check() error {
	if c.When != "" && !c.When.Valid() {
		return ErrWhen
	}
	if len(c.Instructions) > schema.MaxInjectorBytes {
		return fmt.Errorf("instructions: %w", ErrTooLarge)
	}
	if err := checkText(c.Instructions); err != nil {
		return fmt.Errorf("instructions: %w", err)
	}
	return checkBlocks(c.ContextBlocks)
}

func checkBlocks(blocks []schema.ContextBlock) error {
	if len(blocks) > schema.MaxInjectorBlocks {
		return schema.PastLimit("contextBlocks", schema.MaxInjectorBlocks, "blocks")
	}
	if err := schema.CheckBlocks("contextBlocks", present(blocks)); err != nil {
		return err
	}
	titles := 0
	for i, b := range blocks {
		if titles += len(b.Title); titles > schema.MaxBlockBytes {
			return fmt.Errorf("titles of context blocks: %w", ErrTooLarge)
		}
		if err := checkText(Render(b)); err != nil {
			return fmt.Errorf("context block %d: %w", i+1, err)
		}
	}
	return nil
}

// present gives blocks that a Go value left without content an empty one,
// which the wire's rules take.
func present(blocks []schema.ContextBlock) []schema.ContextBlock {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		if b.Content == nil {
			blocks[i].Content = schema.Input{}
		}
	}
	return blocks
}

func checkText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return ErrNotUTF8
	case strings.IndexByte(text, 0) >= 0:
		return ErrNUL
	}
	return nil
}
