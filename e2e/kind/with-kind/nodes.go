package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sigs.k8s.io/kind/pkg/cluster/internal/kubeadm"
	"sigs.k8s.io/kind/pkg/internal/apis/config"
	"sigs.k8s.io/kind/pkg/internal/apis/config/encoding"
	"sigs.k8s.io/kind/pkg/internal/patch"
)

type nodeInput struct{ configFile, kubernetes, containerdFile, out string }

type renderedNode struct {
	Name    string   `json:"name"`
	Role    string   `json:"role"`
	Image   string   `json:"image"`
	Kubeadm string   `json:"kubeadm"`
	Mounts  []mount  `json:"mounts"`
	Labels  []string `json:"labels"`
}

type mount struct {
	HostPath      string `json:"hostPath"`
	ContainerPath string `json:"containerPath"`
	ReadOnly      bool   `json:"readOnly"`
}

type rendered struct {
	Name           string         `json:"name"`
	ConfigPath     string         `json:"configPath"`
	ContainerdFile string         `json:"containerdFile"`
	Nodes          []renderedNode `json:"nodes"`
}

// renderNodes follows kind's action "config": template, cluster patches, node patches, for every node.
func renderNodes(input nodeInput) (*rendered, error) {
	cluster, err := encoding.Load(input.configFile)
	if err != nil {
		return nil, err
	}
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	answer := &rendered{Name: cluster.Name}
	counts := map[string]int{}
	for index := range cluster.Nodes {
		node := &cluster.Nodes[index]
		role := string(node.Role)
		counts[role]++
		name := cluster.Name + "-" + role
		if counts[role] > 1 {
			name = fmt.Sprintf("%s%d", name, counts[role])
		}
		text, err := renderKubeadm(cluster, node, name, input.kubernetes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		file := filepath.Join(input.out, name+".kubeadm.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		answer.Nodes = append(answer.Nodes, describe(node, name, file))
	}
	answer.ContainerdFile = filepath.Join(input.out, "containerd.toml")
	answer.ConfigPath, err = renderContainerd(cluster, input.containerdFile, answer.ContainerdFile)
	return answer, err
}

func describe(node *config.Node, name, file string) renderedNode {
	described := renderedNode{Name: name, Role: string(node.Role), Image: node.Image, Kubeadm: file}
	for _, extra := range node.ExtraMounts {
		described.Mounts = append(described.Mounts, mount{extra.HostPath, extra.ContainerPath, extra.Readonly})
	}
	for key, value := range node.Labels {
		described.Labels = append(described.Labels, key+"="+value)
	}
	sort.Strings(described.Labels)
	return described
}

func renderKubeadm(cluster *config.Cluster, node *config.Node, name, version string) (string, error) {
	text, err := kubeadm.Config(kubeadm.ConfigData{
		NodeProvider:         "docker",
		ClusterName:          cluster.Name,
		ControlPlaneEndpoint: cluster.Name + "-control-plane:6443",
		APIBindPort:          6443,
		APIServerAddress:     cluster.Networking.APIServerAddress,
		Token:                kubeadm.Token,
		PodSubnet:            cluster.Networking.PodSubnet,
		KubeProxyMode:        string(cluster.Networking.KubeProxyMode),
		ServiceSubnet:        cluster.Networking.ServiceSubnet,
		ControlPlane:         node.Role == config.ControlPlaneRole,
		IPFamily:             cluster.Networking.IPFamily,
		FeatureGates:         cluster.FeatureGates,
		RuntimeConfig:        cluster.RuntimeConfig,
		KubernetesVersion:    version,
		NodeAddress:          "172.18.0.2",
		NodeName:             name,
	})
	if err != nil {
		return "", err
	}
	// kind drops a patch that matches nothing without a word; here it is an error.
	if err := applyEach(text, cluster.KubeadmConfigPatches); err != nil {
		return "", err
	}
	text, err = patch.KubeYAML(text, cluster.KubeadmConfigPatches, cluster.KubeadmConfigPatchesJSON6902)
	if err == nil && len(node.KubeadmConfigPatches)+len(node.KubeadmConfigPatchesJSON6902) > 0 {
		if err = applyEach(text, node.KubeadmConfigPatches); err == nil {
			text, err = patch.KubeYAML(text, node.KubeadmConfigPatches, node.KubeadmConfigPatchesJSON6902)
		}
	}
	return strings.ReplaceAll(text, "metadata:\n  name: config\n", ""), err
}

func applyEach(text string, patches []string) error {
	unpatched, err := patch.KubeYAML(text, nil, nil)
	if err != nil {
		return err
	}
	for number, one := range patches {
		patched, err := patch.KubeYAML(text, []string{one}, nil)
		if err != nil {
			return err
		}
		if patched == unpatched {
			return fmt.Errorf("kubeadmConfigPatches[%d] changes nothing: its kind or apiVersion matches no document", number)
		}
	}
	return nil
}

func renderContainerd(cluster *config.Cluster, file, out string) (string, error) {
	original, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	patches := cluster.ContainerdConfigPatches
	patched, err := patch.ContainerdTOML(string(original), patches, cluster.ContainerdConfigPatchesJSON6902)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(out, []byte(patched), 0o600); err != nil {
		return "", err
	}
	var read struct {
		Version int
		Plugins map[string]struct {
			Registry struct {
				ConfigPath string `toml:"config_path"`
			}
		}
	}
	if err := toml.Unmarshal([]byte(patched), &read); err != nil {
		return "", err
	}
	// The section's name belongs to version 2; containerd ignores it in a file of version 3.
	if read.Version != 2 {
		return "", fmt.Errorf("containerd's configuration has version %d, expected 2", read.Version)
	}
	return read.Plugins["io.containerd.grpc.v1.cri"].Registry.ConfigPath, nil
}
