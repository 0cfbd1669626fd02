package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/core/remotes/docker"
	dockerconfig "github.com/containerd/containerd/v2/core/remotes/docker/config"
	"github.com/containerd/log"
	"github.com/pelletier/go-toml/v2"
	"github.com/sirupsen/logrus"
)

type registryHost struct {
	URL     string `json:"url"`
	Pull    bool   `json:"pull"`
	Resolve bool   `json:"resolve"`
	Push    bool   `json:"push"`
}

// The members of hosts.toml. containerd itself overlooks others, so a misspelled one would go unnoticed.
type hostFields struct {
	Capabilities []string       `toml:"capabilities"`
	CA           any            `toml:"ca"`
	Client       any            `toml:"client"`
	SkipVerify   *bool          `toml:"skip_verify"`
	Header       map[string]any `toml:"header"`
	OverridePath bool           `toml:"override_path"`
	DialTimeout  string         `toml:"dial_timeout"`
}

type hostsFile struct {
	hostFields
	Server string                `toml:"server"`
	Host   map[string]hostFields `toml:"host"`
}

// readHosts answers where containerd goes for a registry, in its order. It reads the CA files too, as containerd does on
// every pull.
func readHosts(root, host string) ([]registryHost, error) {
	directory, err := dockerconfig.HostDirFromRoot(root)(host)
	if err != nil {
		return nil, fmt.Errorf("no folder for %s: %w", host, err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "hosts.toml"))
	if err != nil {
		return nil, err
	}
	var strict hostsFile
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&strict); err != nil {
		var missing *toml.StrictMissingError
		if errors.As(err, &missing) {
			return nil, errors.New(missing.String())
		}
		return nil, err
	}
	// A file that containerd cannot read is logged, and then it goes to the real host: a leak, so an error here.
	logger := logrus.New()
	failures := &failureHook{}
	logger.AddHook(failures)
	ctx := log.WithLogger(context.Background(), logrus.NewEntry(logger))
	found, err := dockerconfig.ConfigureHosts(ctx, dockerconfig.HostOptions{HostDir: dockerconfig.HostDirFromRoot(root)})(host)
	if err == nil {
		err = failures.err
	}
	if err != nil {
		return nil, err
	}
	answer := []registryHost{}
	for _, one := range found {
		answer = append(answer, registryHost{
			URL:     fmt.Sprintf("%s://%s%s", one.Scheme, one.Host, one.Path),
			Pull:    one.Capabilities.Has(docker.HostCapabilityPull),
			Resolve: one.Capabilities.Has(docker.HostCapabilityResolve),
			Push:    one.Capabilities.Has(docker.HostCapabilityPush),
		})
	}
	return answer, nil
}

type failureHook struct{ err error }

func (hook *failureHook) Levels() []logrus.Level { return []logrus.Level{logrus.ErrorLevel} }

func (hook *failureHook) Fire(entry *logrus.Entry) error {
	hook.err = fmt.Errorf("%s: %v", entry.Message, entry.Data[logrus.ErrorKey])
	return nil
}
