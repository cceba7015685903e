module github.com/prism-rpc/prism-rpc/conformance

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/prism-rpc/prism-rpc v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/go-playground/validator/v10 v10.30.6 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/prism-rpc/prism-rpc => ../
