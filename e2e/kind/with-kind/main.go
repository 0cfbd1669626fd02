// Command with-kind reads what `pullproof kind generate` wrote with kind's own packages and with containerd's, and writes
// what kind would put into each node.
//
//	with-kind -config kind.yaml -kubernetes v1.37.0 -containerd config.toml -out FOLDER   kind's part
//	with-kind -hosts certs.d -host NAME                                                    containerd's part
//
// Exit 0 and JSON: accepted. Exit 1 and a text on stderr: refused.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	configFile := flag.String("config", "", "kind's cluster configuration")
	kubernetes := flag.String("kubernetes", "", "Kubernetes version of the node image")
	containerd := flag.String("containerd", "", "containerd's configuration in the node image")
	out := flag.String("out", "", "where kubeadm's and containerd's configuration of each node go")
	hosts := flag.String("hosts", "", "containerd's folder of registry hosts")
	host := flag.String("host", "", "a registry host")
	flag.Parse()

	var answer any
	var err error
	if *hosts != "" {
		answer, err = readHosts(*hosts, *host)
	} else {
		answer, err = renderNodes(nodeInput{*configFile, *kubernetes, *containerd, *out})
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
