package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"sigs.k8s.io/yaml"
)

// split answers the documents of a file, empty ones left out.
func split(data []byte) ([][]byte, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	documents := [][]byte{}
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(document)) > 0 {
			documents = append(documents, document)
		}
	}
}

// findKubelet answers the KubeletConfiguration among a node's documents.
func findKubelet(data []byte) ([]byte, error) {
	documents, err := split(data)
	if err != nil {
		return nil, err
	}
	for _, document := range documents {
		var meta struct{ Kind string }
		if err := yaml.Unmarshal(document, &meta); err != nil {
			return nil, err
		}
		if meta.Kind == "KubeletConfiguration" {
			return document, nil
		}
	}
	return nil, errors.New("there is no KubeletConfiguration")
}

// setGates switches gates as a component does at its start: one that this version does not know is an error.
func setGates(gates map[string]bool) error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
