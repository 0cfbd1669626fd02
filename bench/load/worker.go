package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// worker is one connection at a time, and what was seen over it.
type worker struct {
	target   *target
	conn     net.Conn
	reader   *bufio.Reader
	buffer   []byte
	times    []time.Duration
	bytes    int64
	connects int64
}

// answer is as much of a response as matters here.
type answer struct {
	status   int
	length   int64 // -1: chunked, -2: to the end of the connection
	closing  bool
	location string
}

func (w *worker) connect() error {
	conn, err := net.Dial("tcp", w.target.address)
	if err != nil {
		return err
	}
	if w.target.tls != nil {
		secure := tls.Client(conn, w.target.tls)
		if err := secure.Handshake(); err != nil {
			return err
		}
		conn = secure
	}
	if w.buffer == nil {
		w.buffer = make([]byte, blockBytes)
	}
	w.conn, w.reader = conn, bufio.NewReaderSize(conn, 16<<10)
	w.connects++
	return nil
}

// ask makes the request with the given number and waits for its whole answer.
func (w *worker) ask(number int64) error {
	begin := time.Now()
	var err error
	if w.target.Push {
		err = w.push()
	} else {
		err = w.askOnce(number)
	}
	w.times = append(w.times, time.Since(begin))
	return err
}

func (w *worker) askOnce(number int64) error {
	t := w.target
	switch {
	case t.bodies != nil:
		body := t.bodies[number%int64(len(t.bodies))]
		_, err := w.exchange(t.Expect, append(t.head(t.Method, t.path, int64(len(body))), body...), false)
		return err
	case t.BodyBytes > 0:
		_, err := w.exchange(t.Expect, t.head(t.Method, t.path, t.BodyBytes), true)
		return err
	default:
		_, err := w.exchange(t.Expect, t.head(t.Method, t.path, -1), false)
		return err
	}
}

// push uploads the body as containerd does: a session, then everything in one PUT.
func (w *worker) push() error {
	t := w.target
	opened, err := w.exchange(202, t.head("POST", t.path, 0), false)
	if err != nil {
		return err
	}
	location, err := url.Parse(opened.location)
	if err != nil {
		return err
	}
	query := location.Query()
	query.Set("digest", t.digest)
	location.RawQuery = query.Encode()
	_, err = w.exchange(201, t.head("PUT", location.RequestURI(), t.BodyBytes), true)
	return err
}

func (w *worker) exchange(expect int, head []byte, withBody bool) (*answer, error) {
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return nil, err
		}
	}
	if _, err := w.conn.Write(head); err != nil {
		return nil, err
	}
	if withBody {
		err := w.target.eachBlock(func(block []byte) error {
			_, err := w.conn.Write(block)
			w.bytes += int64(len(block))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	found, err := w.readAnswer()
	if err != nil {
		return nil, err
	}
	if found.status != expect {
		return nil, fmt.Errorf("expected status %d, found %d", expect, found.status)
	}
	if found.closing {
		w.conn.Close()
		w.conn = nil
	}
	return found, nil
}

func (w *worker) readAnswer() (*answer, error) {
	found, err := w.readHead()
	if err != nil {
		return nil, err
	}
	if found.status == 204 || found.status == 304 {
		return found, nil
	}
	switch found.length {
	case -1:
		err = w.skipChunks()
	case -2:
		err = w.skip(1 << 62)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	default:
		err = w.skip(found.length)
	}
	return found, err
}

func (w *worker) readHead() (*answer, error) {
	line, err := w.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 12 {
		return nil, fmt.Errorf("expected a status line, found %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return nil, err
	}
	found := &answer{status: status, length: -2}
	for {
		line, err = w.reader.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if err := found.read(line); err != nil {
			return nil, err
		}
	}
	if found.length == -2 {
		found.closing = true
	}
	return found, nil
}

// read takes note of the few headers that matter.
func (a *answer) read(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	var err error
	switch len(name) {
	case len("location"):
		if strings.EqualFold(string(name), "location") {
			a.location = string(value)
		}
	case len("connection"):
		if strings.EqualFold(string(name), "connection") {
			a.closing = strings.EqualFold(string(value), "close")
		}
	case len("content-length"):
		if strings.EqualFold(string(name), "content-length") {
			a.length, err = strconv.ParseInt(string(value), 10, 64)
		}
	case len("transfer-encoding"):
		if strings.EqualFold(string(name), "transfer-encoding") {
			a.length = -1
		}
	}
	return err
}

func (w *worker) skip(length int64) error {
	for length > 0 {
		n, err := w.reader.Read(w.buffer[:min(length, blockBytes)])
		w.bytes += int64(n)
		length -= int64(n)
		if err != nil && length > 0 {
			return err
		}
	}
	return nil
}

func (w *worker) skipChunks() error {
	for {
		line, err := w.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 64)
		if err != nil {
			return err
		}
		if err := w.skip(size + 2); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}
