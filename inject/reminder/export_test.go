package reminder

// ReadFile is what a file says, and the file as it would be saved unchanged.
func ReadFile(data []byte) (*Settings, []byte, error) {
	members, err := parseStored(data)
	if err != nil {
		return nil, nil, err
	}
	kept, err := members.encode()
	return merged(Layer{}, members.layer()), kept, err
}
