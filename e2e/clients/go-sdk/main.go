// A program as users write it with the AWS SDK for Go: the identity comes from the SDK's default chain (a web identity
// where AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are set, else static keys), registry requests carry ECR's password.
//
//	go-sdk whoami                     prints the caller's ARN
//	go-sdk pull REGISTRY/REPO:TAG     fetches manifest, config and layers, and checks every digest
//	go-sdk push REGISTRY/REPO:TAG     pushes an image of one small layer; prints the manifest's digest
//	go-sdk create REPO                creates a repository
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
)

type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type reference struct{ host, repository, tag string }

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("expected a command: whoami, pull, push or create")
	}
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	command, operands := args[0], args[1:]
	if command == "whoami" {
		return whoami(ctx, settings)
	}
	if len(operands) != 1 {
		return fmt.Errorf("%s: expected one operand, found %d", command, len(operands))
	}
	switch command {
	case "create":
		_, err := ecr.NewFromConfig(settings).CreateRepository(ctx, &ecr.CreateRepositoryInput{RepositoryName: &operands[0]})
		return err
	case "pull", "push":
		image, err := parse(operands[0])
		if err != nil {
			return err
		}
		registry, err := login(ctx, settings, image)
		if err != nil {
			return err
		}
		if command == "pull" {
			return registry.pull(ctx, image.tag)
		}
		return registry.push(ctx, image.tag)
	}
	return fmt.Errorf("expected a command: whoami, pull, push or create; found %q", command)
}

func whoami(ctx context.Context, settings aws.Config) error {
	identity, err := sts.NewFromConfig(settings).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return err
	}
	fmt.Println(aws.ToString(identity.Arn))
	return nil
}

func parse(image string) (reference, error) {
	host, rest, ok := strings.Cut(image, "/")
	repository, tag, tagged := strings.Cut(rest, ":")
	if !ok || !tagged {
		return reference{}, fmt.Errorf("expected REGISTRY/REPO:TAG, found %q", image)
	}
	return reference{host, repository, tag}, nil
}

// registry is one repository as this caller may use it.
type registry struct{ base, token string }

func login(ctx context.Context, settings aws.Config, image reference) (registry, error) {
	answer, err := ecr.NewFromConfig(settings).GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return registry{}, err
	}
	base := "https://" + image.host + "/v2/" + image.repository
	return registry{base, aws.ToString(answer.AuthorizationData[0].AuthorizationToken)}, nil
}

// do sends one request and returns an error with the registry's own words unless the status is the wanted one.
func (r registry) do(ctx context.Context, request *http.Request, wanted int) (*http.Response, []byte, error) {
	request.Header.Set("Authorization", "Basic "+r.token)
	response, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != wanted {
		err = fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, strings.TrimSpace(string(body)))
	}
	return response, body, err
}

func (r registry) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, r.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", manifestType+", application/vnd.docker.distribution.manifest.v2+json, */*")
	_, body, err := r.do(ctx, request, http.StatusOK)
	return body, err
}

func (r registry) pull(ctx context.Context, tag string) error {
	body, err := r.get(ctx, "/manifests/"+tag)
	if err != nil {
		return err
	}
	var found manifest
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	for _, part := range append([]descriptor{found.Config}, found.Layers...) {
		blob, err := r.get(ctx, "/blobs/"+part.Digest)
		if err != nil {
			return err
		}
		if digest := digestOf(blob); digest != part.Digest {
			return fmt.Errorf("expected %s, found %s", part.Digest, digest)
		}
	}
	fmt.Println(digestOf(body))
	return nil
}

func (r registry) push(ctx context.Context, tag string) error {
	layer := make([]byte, 1024) // two empty blocks: an empty tar archive
	settings := []byte(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":["` + digestOf(layer) + `"]}}`)
	for _, blob := range [][]byte{settings, layer} {
		if err := r.upload(ctx, blob); err != nil {
			return err
		}
	}
	body, err := json.Marshal(manifest{
		SchemaVersion: 2,
		MediaType:     manifestType,
		Config:        descriptor{configType, digestOf(settings), len(settings)},
		Layers:        []descriptor{{layerType, digestOf(layer), len(layer)}},
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPut, r.base+"/manifests/"+tag, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", manifestType)
	if _, _, err := r.do(ctx, request, http.StatusCreated); err != nil {
		return err
	}
	fmt.Println(digestOf(body))
	return nil
}

func (r registry) upload(ctx context.Context, blob []byte) error {
	start, err := http.NewRequest(http.MethodPost, r.base+"/blobs/uploads/", nil)
	if err != nil {
		return err
	}
	response, _, err := r.do(ctx, start, http.StatusAccepted)
	if err != nil {
		return err
	}
	target, err := response.Location()
	if err != nil {
		return err
	}
	query := target.Query()
	query.Set("digest", digestOf(blob))
	target.RawQuery = query.Encode()
	finish, err := http.NewRequest(http.MethodPut, target.String(), bytes.NewReader(blob))
	if err != nil {
		return err
	}
	finish.Header.Set("Content-Type", "application/octet-stream")
	_, _, err = r.do(ctx, finish, http.StatusCreated)
	return err
}

func digestOf(content []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(content))
}
