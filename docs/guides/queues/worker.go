// Receives the messages of a queue, handles each, acknowledges it. SIGTERM ends it
// when what it has in hand is done.
//
//	QUEUES_URL=http://127.0.0.1:8080 QUEUES_KEY=qk_... QUEUES_PROJECT=acme/shop \
//	go run worker.go orders
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type message struct {
	MessageID     string            `json:"messageId"`
	ReceiptHandle string            `json:"receiptHandle"`
	Body          string            `json:"body"`
	Attributes    map[string]string `json:"attributes"`
	ReceiveCount  int               `json:"receiveCount"`
	GroupID       string            `json:"groupId"` // of a FIFO queue
}

type object map[string]interface{}

var visibility, maxMessages = number("VISIBILITY", 30), number("MAX_MESSAGES", 10)

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most),
// until the context ends.
func post(ctx context.Context, timeout time.Duration, path string, body, answer interface{}) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		pause := math.Min(0.2*math.Pow(2, float64(attempt)), 10) * (0.5 + rand.Float64()/2)
		again, after, err := once(ctx, timeout, path, text, answer)
		if err == nil || !again {
			return err
		}
		select {
		case <-time.After(time.Duration(math.Max(pause, after) * float64(time.Second))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func once(ctx context.Context, timeout time.Duration, path string, text []byte,
	answer interface{}) (again bool, after float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST", os.Getenv("QUEUES_URL")+path,
		bytes.NewReader(text))
	if err != nil {
		return false, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("QUEUES_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return true, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode < 300 {
		return true, 0, json.NewDecoder(response.Body).Decode(answer)
	}
	// 0 of a date, as some proxies have it
	seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 32)
	return response.StatusCode == 429 || response.StatusCode == 503,
		math.Min(float64(seconds), 60), fmt.Errorf("%s: %s", path, response.Status)
}

func setVisibility(handles []string, seconds int) error {
	entries := []object{}
	for _, handle := range handles {
		entries = append(entries, object{"receiptHandle": handle, "visibilityTimeoutSeconds": seconds})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return post(ctx, 10*time.Second, "/v1/receipts/visibility", object{"entries": entries}, &object{})
}

// Delivery is at least once, so an order whose id is known is done. Here a line of
// a file is both the work and the note that it was done; with a database, do both
// in one transaction, the id being a unique key.
type ledger struct {
	file *os.File
	done map[string]bool
}

func open(name string) *ledger {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	done := map[string]bool{}
	for _, id := range strings.Fields(string(text)) {
		done[id] = true
	}
	return &ledger{file, done}
}

func (l *ledger) handle(m message) error {
	var order struct{ Seconds float64 }
	if err := json.Unmarshal([]byte(m.Body), &order); err != nil {
		return err // what cannot be read ends as a dead letter
	}
	id := m.Attributes["id"]
	if id == "" {
		id = m.MessageID
	}
	if l.done[id] {
		return nil
	}
	time.Sleep(time.Duration(order.Seconds * float64(time.Second))) // your code
	if _, err := fmt.Fprintln(l.file, id); err != nil {
		return err
	}
	l.done[id] = true
	return nil
}

// Work may take longer than the visibility timeout: it is extended meanwhile.
type unfinished struct {
	sync.Mutex
	handles map[string]bool
}

func (u *unfinished) drop(handle string) {
	u.Lock()
	defer u.Unlock()
	delete(u.handles, handle)
}

func (u *unfinished) extend(ended chan struct{}) {
	ticker := time.NewTicker(time.Duration(visibility) * time.Second / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		handles := []string{}
		u.Lock()
		for handle := range u.handles {
			handles = append(handles, handle)
		}
		u.Unlock()
		if len(handles) == 0 {
			continue
		}
		if err := setVisibility(handles, visibility); err != nil {
			log.Print(err)
		}
	}
}

// What is not acknowledged comes again.
func acknowledge(handled []string) {
	if len(handled) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var answer struct{ Results []struct{ Error string } }
	err := post(ctx, 10*time.Second, "/v1/receipts/ack", object{"receiptHandles": handled}, &answer)
	if err != nil {
		log.Print(err)
	}
	for _, result := range answer.Results {
		if result.Error != "" {
			log.Print(result.Error)
		}
	}
}

func handleAll(stop context.Context, l *ledger, messages []message) error {
	open := &unfinished{handles: map[string]bool{}}
	for _, m := range messages {
		open.handles[m.ReceiptHandle] = true
	}
	ended := make(chan struct{})
	go open.extend(ended)
	defer close(ended)

	handled := []string{}
	// also where a release failed
	defer func() { acknowledge(handled) }()
	failed := map[string]bool{} // groups of a FIFO queue, which wait behind what failed
	for _, m := range messages {
		pause := 0
		if stop.Err() == nil && !failed[m.GroupID] {
			err := l.handle(m)
			if err == nil {
				handled = append(handled, m.ReceiptHandle)
				continue
			}
			log.Print(m.MessageID, " ", err)
			pause = visibility
			if m.ReceiveCount < 10 && 1<<m.ReceiveCount < pause {
				pause = 1 << m.ReceiveCount
			}
			failed[m.GroupID] = m.GroupID != ""
		}
		open.drop(m.ReceiptHandle)
		if err := setVisibility([]string{m.ReceiptHandle}, pause); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	project := strings.SplitN(os.Getenv("QUEUES_PROJECT"), "/", 2)
	path := fmt.Sprintf("/v1/organizations/%s/projects/%s/queues/%s/messages/receive",
		project[0], project[1], os.Args[1])
	name := os.Getenv("DONE")
	if name == "" {
		name = "done.txt"
	}
	l := open(name)

	for stop.Err() == nil {
		var answer struct{ Messages []message }
		err := post(stop, 30*time.Second, path, object{
			"maxMessages": maxMessages, "waitSeconds": 20,
			"visibilityTimeoutSeconds": visibility}, &answer)
		if stop.Err() == nil && err != nil {
			log.Fatal(err)
		}
		if err := handleAll(stop, l, answer.Messages); err != nil {
			log.Print(err) // what was not released comes again, later
		}
	}
}
