//go:build !decode

package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	"k8s.io/kubernetes/pkg/credentialprovider/plugin"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	kubeletvalidation "k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
)

// checkKubeadm does what `kubeadm config validate` does.
func checkKubeadm(data []byte) error {
	switch validate := any(kubeadm.ValidateConfig).(type) {
	case func([]byte, bool) error: // up to 1.35
		return validate(data, false)
	case func([]byte, bool, bool) error:
		return validate(data, true, false)
	}
	return fmt.Errorf("kubeadm's ValidateConfig has become %T", kubeadm.ValidateConfig)
}

// checkKubelet reads the KubeletConfiguration as the kubelet does: strictly, with its defaults, then its own validation
// under the gates that it sets.
func checkKubelet(data []byte) (err error) {
	// Its defaults panic over a gate that they do not know, in the kubelet as well.
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	document, err := findKubelet(data)
	if err != nil {
		return err
	}
	_, codecs, err := kubeletscheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		return err
	}
	object, kind, err := codecs.UniversalDecoder().Decode(document, nil, nil)
	if err != nil {
		return err
	}
	configuration, ok := object.(*kubeletconfig.KubeletConfiguration)
	if !ok {
		return fmt.Errorf("%s is no KubeletConfiguration", kind)
	}
	if err := setGates(configuration.FeatureGates); err != nil {
		return err
	}
	configuration.FailCgroupV1 = false // a question to the node's machine, not to the file
	return kubeletvalidation.ValidateKubeletConfiguration(configuration, utilfeature.DefaultFeatureGate)
}

// checkProvider calls what the kubelet calls at its start: it reads, validates, and looks for every executable.
func checkProvider(file, bin string) error {
	return plugin.RegisterCredentialProviderPlugins(file, bin, nil, nil)
}
