//go:build decode

package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubeletv1 "k8s.io/kubelet/config/v1"
	kubeletv1alpha1 "k8s.io/kubelet/config/v1alpha1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	kubeadmscheme "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config/strict"
	"sigs.k8s.io/yaml"
)

// checkKubeadm decodes the documents of kubeadm's own group as kubeadm does: strictly, then into its internal types.
func checkKubeadm(data []byte) error {
	documents, err := split(data)
	if err != nil {
		return err
	}
	found := 0
	for _, document := range documents {
		var meta struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &meta); err != nil {
			return err
		}
		kind := schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
		if kind.Group != "kubeadm.k8s.io" {
			continue
		}
		found++
		if err := strict.VerifyUnmarshalStrict([]*runtime.Scheme{kubeadmscheme.Scheme}, kind, document); err != nil {
			return err
		}
		if _, _, err := kubeadmscheme.Codecs.UniversalDecoder().Decode(document, nil, nil); err != nil {
			return err
		}
	}
	if found == 0 {
		return fmt.Errorf("there is no document of kubeadm's")
	}
	return nil
}

func decodeStrictly(document []byte) (runtime.Object, error) {
	known := runtime.NewScheme()
	utilruntime.Must(kubeletv1.AddToScheme(known))
	utilruntime.Must(kubeletv1beta1.AddToScheme(known))
	utilruntime.Must(kubeletv1alpha1.AddToScheme(known))
	object, _, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer().Decode(document, nil, nil)
	return object, err
}

// checkKubelet decodes the KubeletConfiguration and sets its gates.
func checkKubelet(data []byte) error {
	document, err := findKubelet(data)
	if err != nil {
		return err
	}
	object, err := decodeStrictly(document)
	if err != nil {
		return err
	}
	configuration, ok := object.(*kubeletv1beta1.KubeletConfiguration)
	if !ok {
		return fmt.Errorf("%T is no KubeletConfiguration", object)
	}
	return setGates(configuration.FeatureGates)
}

// checkProvider decodes the configuration; the folder of executables is not looked at.
func checkProvider(file, _ string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	object, err := decodeStrictly(document)
	if err != nil {
		return err
	}
	switch object.(type) {
	case *kubeletv1.CredentialProviderConfig, *kubeletv1beta1.CredentialProviderConfig, *kubeletv1alpha1.CredentialProviderConfig:
		return nil
	}
	return fmt.Errorf("%T is no CredentialProviderConfig", object)
}
