package schema_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/contract"
	"github.com/prism-rpc/prism-rpc/schema"
)

// heads are how images of each type begin.
var heads = map[string]string{
	"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x1a\x00\x00\x00WEBP",
}

func encoded(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

func promptWith(block string) string { return `{"input":[` + block + `]}` }

func imageBlock(mimeType, data string) string {
	return fmt.Sprintf(`{"type":"image","mimeType":%q,"data":%q}`, mimeType, data)
}

func TestImagesOfEachTypeAreTaken_P14(t *testing.T) {
	s, err := contract.Parse(schema.JSONSchema())
	require.NoError(t, err)
	for mimeType, head := range heads {
		for _, rest := range []string{"", "x", "xy", "xyz", strings.Repeat("\x00\xff\xfe", 2000)} {
			params := promptWith(imageBlock(mimeType, encoded(head+rest)))
			var p schema.PromptParams
			require.NoError(t, schema.Decode([]byte(params), &p), "%s with %d more", mimeType, len(rest))
			assert.NoError(t, s.Check("PromptParams", []byte(params)), mimeType)
			data, err := p.Input[0].ImageData()
			require.NoError(t, err)
			assert.Equal(t, head+rest, string(data))
			assert.Equal(t, mimeType, schema.ImageType(data))
			assert.Equal(t, fmt.Sprintf("[image %s, %d bytes]", mimeType, len(data)), p.Input[0].Plain())
		}
	}
}

func TestU10BadImagesAreRefusedByTheirField(t *testing.T) {
	png := encoded(heads["image/png"])
	for claim, row := range map[string]struct{ block, field, rule string }{
		"no type":                     {`{"type":"image","data":"` + png + `"}`, "input[0].mimeType", "required"},
		"a type that is no image's":   {imageBlock("text/plain", png), "input[0].mimeType", "oneof"},
		"an image that may run code":  {imageBlock("image/svg+xml", png), "input[0].mimeType", "oneof"},
		"a type in another case":      {imageBlock("IMAGE/PNG", png), "input[0].mimeType", "oneof"},
		"no data":                     {`{"type":"image","mimeType":"image/png"}`, "input[0].data", "required"},
		"an URI in place of data":     {`{"type":"image","mimeType":"image/png","uri":"file:///x.png"}`, "input[0].data", "required"},
		"what is no base64":           {imageBlock("image/png", "!!!!"), "input[0].data", "base64"},
		"base64 without its padding":  {imageBlock("image/png", strings.TrimRight(png, "=")), "input[0].data", "base64"},
		"base64 cut short":            {imageBlock("image/png", png[:len(png)-2]), "input[0].data", "base64"},
		"base64 of other characters":  {imageBlock("image/png", base64.URLEncoding.EncodeToString([]byte(heads["image/png"]+"\xff\xff\xff"))), "input[0].data", "base64"},
		"base64 over several lines":   {imageBlock("image/png", png[:4]+"\n"+png[4:]), "input[0].data", "base64"},
		"bits that are lost":          {imageBlock("image/png", png[:len(png)-2]+"p="), "input[0].data", "base64"},
		"padding in the middle":       {imageBlock("image/png", png+png), "input[0].data", "base64"},
		"a data: URL":                 {imageBlock("image/png", "data:image/png;base64,"+png), "input[0].data", "base64"},
		"another image":               {imageBlock("image/png", encoded(heads["image/gif"])), "input[0].data", "magic"},
		"no image":                    {imageBlock("image/png", encoded("hello")), "input[0].data", "magic"},
		"data of another type":        {`{"type":"image","mimeType":"image/png","data":5}`, "input[0].data", "type"},
		"an image by hash":            {`{"type":"image","mimeType":"image/png","sha256":"` + strings.Repeat("0f", 32) + `"}`, "input[0].sha256", "excluded"},
		"a size":                      {`{"type":"image","mimeType":"image/png","data":"` + png + `","bytes":8}`, "input[0].bytes", "excluded"},
		"data in a text":              {`{"type":"text","text":"x","data":"` + png + `"}`, "input[0].data", "excluded"},
		"data in a link":              {`{"type":"resource_link","uri":"u","name":"n","data":"c2VjcmV0"}`, "input[0].data", "excluded"},
		"a second one that is no use": {imageBlock("image/png", png) + `,` + imageBlock("image/png", ""), "input[1].data", "required"},
	} {
		t.Run(claim, func(t *testing.T) {
			var bad *schema.ParamsError
			require.ErrorAs(t, schema.Decode([]byte(promptWith(row.block)), new(schema.PromptParams)), &bad)
			assert.Equal(t, row.field, bad.Errors[0].Field)
			assert.Equal(t, row.rule, bad.Errors[0].Rule)
			assert.NotContains(t, bad.Error(), png, "what was sent is not repeated")
		})
	}
}

func TestImagesAreBounded_T7(t *testing.T) {
	large := heads["image/gif"] + strings.Repeat("x", schema.MaxImageBytes-len(heads["image/gif"]))
	require.NoError(t, schema.Decode([]byte(promptWith(imageBlock("image/gif", encoded(large)))), new(schema.PromptParams)))

	gif := imageBlock("image/gif", encoded(heads["image/gif"]))
	for field, row := range map[string]struct {
		input string
		limit int
	}{
		"input[0].data": {promptWith(imageBlock("image/gif", encoded(large+"x"))), schema.MaxImageBytes},
		"input":         {promptWith(gif + strings.Repeat(","+gif, schema.MaxImages)), schema.MaxImages},
		"contextBlocks": {`{"input":"x","contextBlocks":[{"content":[` + imageBlock("image/gif", encoded(large[:schema.MaxBlockBytes])) + `]}]}`, schema.MaxBlockBytes},
	} {
		bad, ok := errors.AsType[*schema.ParamsError](schema.Decode([]byte(row.input), new(schema.PromptParams)))
		require.True(t, ok, field)
		assert.Equal(t, field, bad.Errors[0].Field)
		assert.Equal(t, row.limit, bad.Limit)
	}
}

func TestU10InputOfAnImageAloneIsNotBlank(t *testing.T) {
	image := imageBlock("image/gif", encoded(heads["image/gif"]))
	assert.NoError(t, schema.Decode([]byte(promptWith(image)), new(schema.PromptParams)))
	assert.NoError(t, schema.Decode([]byte(promptWith(`{"type":"text","text":" "},`+image)), new(schema.PromptParams)))
}

func TestAnAttachmentIsAskedForByItsHashAlone(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	assert.NoError(t, schema.Decode([]byte(`{"attachment":"`+hash+`","offset":3}`), new(schema.MessagesParams)))
	for params, field := range map[string]string{
		`{"attachment":"../x"}`:                          "attachment",
		`{"attachment":"` + strings.ToUpper(hash) + `"}`: "attachment",
		`{"attachment":"` + hash + `","turn":1}`:         "turn",
		`{"attachment":"` + hash + `","role":"user"}`:    "role",
		`{"attachment":"` + hash + `","afterTurn":1}`:    "afterTurn",
		`{"attachment":"` + hash + `","limit":1}`:        "limit",
		`{"attachment":"` + hash + `","offset":-1}`:      "offset",
		`{"offset":1}`: "turn",
	} {
		bad, ok := errors.AsType[*schema.ParamsError](schema.Decode([]byte(params), new(schema.MessagesParams)))
		require.True(t, ok, params)
		assert.Equal(t, field, bad.Errors[0].Field, params)
	}
}
