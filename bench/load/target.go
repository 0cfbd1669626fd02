package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// blockBytes is how much of a made body is written at a time; the body repeats one block of noise.
const blockBytes = 1 << 20

// target is where requests go, with everything that can be prepared before the clock runs.
type target struct {
	job
	address string
	path    string
	tls     *tls.Config
	bodies  [][]byte
	block   []byte
	digest  string
}

func newTarget(asked *job) (*target, error) {
	parsed, err := url.Parse(asked.URL)
	if err != nil {
		return nil, err
	}
	made := &target{job: *asked, address: parsed.Host, path: parsed.RequestURI()}
	if made.Host == "" {
		made.Host = parsed.Host
	}
	if parsed.Scheme == "https" {
		if made.tls, err = trust(asked.CA, made.Host); err != nil {
			return nil, err
		}
	}
	if asked.Bodies != "" {
		text, err := os.ReadFile(asked.Bodies)
		if err != nil {
			return nil, err
		}
		made.bodies = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	}
	if asked.BodyBytes > 0 {
		made.block = make([]byte, blockBytes)
		rand.Read(made.block) // never fails
	}
	if asked.Push {
		made.digest = made.digestOfBody()
	}
	return made, nil
}

func trust(file, host string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("expected a certificate in %s", file)
	}
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	return &tls.Config{RootCAs: roots, ServerName: name}, nil
}

func (t *target) digestOfBody() string {
	hash := sha256.New()
	_ = t.eachBlock(func(block []byte) error {
		hash.Write(block)
		return nil
	})
	return fmt.Sprintf("sha256:%x", hash.Sum(nil))
}

// eachBlock hands out a made body piece by piece.
func (t *target) eachBlock(take func([]byte) error) error {
	for left := t.BodyBytes; left > 0; left -= blockBytes {
		if err := take(t.block[:min(left, blockBytes)]); err != nil {
			return err
		}
	}
	return nil
}

// head renders a request's head; headers of the job come with every request.
func (t *target) head(method, path string, length int64) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, t.Host)
	for _, header := range t.Headers {
		fmt.Fprintf(&out, "%s: %s\r\n", header[0], header[1])
	}
	if length >= 0 {
		fmt.Fprintf(&out, "Content-Length: %d\r\n", length)
	}
	out.WriteString("\r\n")
	return []byte(out.String())
}
