// Command with-kubernetes reads what `pullproof kind generate` wrote with Kubernetes' own packages, as strictly as the
// programs of a node do. It is built once for each Kubernetes minor: the .mod files beside it name the versions. The
// newest minors are built with the kubelet's and kubeadm's validation; older ones (tag "decode") with their decoders only.
//
//	with-kubernetes [-kubeadm FILE] [-provider FILE -bin FOLDER] [-manifests FILE,FILE…] [-gates A=true,B=false]
//
// prints a JSON list of {"what", "file", "error"}; an empty error says that the file was accepted.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/kubernetes/pkg/features" // registers every gate that this version knows
)

type verdict struct {
	What  string `json:"what"`
	File  string `json:"file"`
	Error string `json:"error"`
}

func main() {
	kubeadmFile := flag.String("kubeadm", "", "kubeadm's configuration of one node")
	provider := flag.String("provider", "", "the kubelet's CredentialProviderConfig")
	bin := flag.String("bin", "", "the kubelet's folder of credential providers")
	manifests := flag.String("manifests", "", "files for kubectl apply, separated by commas")
	gates := flag.String("gates", "", "feature gates, where no kubeadm configuration says them")
	flag.Parse()

	verdicts := []verdict{}
	check := func(what, file string, err error) {
		text := ""
		if err != nil {
			text = err.Error()
		}
		verdicts = append(verdicts, verdict{what, file, text})
	}

	if *gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
			check("gates", *gates, err)
		}
	}
	if *kubeadmFile != "" {
		// First, since its KubeletConfiguration sets the gates that the others are judged by.
		check("kubelet", *kubeadmFile, withFile(*kubeadmFile, checkKubelet))
		check("kubeadm", *kubeadmFile, withFile(*kubeadmFile, checkKubeadm))
	}
	if *provider != "" {
		check("provider", *provider, checkProvider(*provider, *bin))
	}
	for _, file := range strings.FieldsFunc(*manifests, func(r rune) bool { return r == ',' }) {
		check("manifests", file, withFile(file, checkManifests))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func withFile(file string, check func([]byte) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return check(data)
}
