package schema

// ListModelsParams are the params of listModels.
type ListModelsParams struct {
	Provider *string `json:"provider,omitempty" validate:"omitempty,max=64"` // default: the one that is asked by default
	Meta
}

// ListModelsResult answers listModels, in the order of the provider's own list.
type ListModelsResult struct {
	Models []ModelInfo `json:"models"`
	Cut    []string    `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// ModelInfo is one of the models that a provider has.
type ModelInfo struct {
	Model         string `json:"model"`                  // as prompt's model names it
	Name          string `json:"name,omitempty"`         // for people
	ContextTokens int64  `json:"contextTokens,omitzero"` // that it takes, where the provider says it
}
