// Pulls the messages of a subscription, handles each, acknowledges it. SIGTERM ends
// it when what it has in hand is done.
//
//	PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
//	go run subscriber.go billing
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
	MessageID   string            `json:"messageId"`
	Data        []byte            `json:"data"` // base64 in JSON
	Attributes  map[string]string `json:"attributes"`
	OrderingKey string            `json:"orderingKey"`
}

type received struct {
	AckID   string `json:"ackId"`
	Message message
}

type object map[string]interface{}

var deadline = 30 // seconds

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most),
// until the context ends.
func post(ctx context.Context, timeout time.Duration, verb string, body, answer interface{}) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		pause := math.Min(0.2*math.Pow(2, float64(attempt)), 10) * (0.5 + rand.Float64()/2)
		again, after, err := once(ctx, timeout, verb, text, answer)
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

func once(ctx context.Context, timeout time.Duration, verb string, text []byte,
	answer interface{}) (again bool, after float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST",
		fmt.Sprintf("%s/v1/projects/%s/subscriptions/%s:%s", os.Getenv("PUBSUB_URL"),
			os.Getenv("PROJECT_ID"), os.Args[1], verb), bytes.NewReader(text))
	if err != nil {
		return false, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
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
		math.Min(float64(seconds), 60), fmt.Errorf("%s: %s", verb, response.Status)
}

// within some time, also when it is to stop
func finish(verb string, body object) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return post(ctx, 10*time.Second, verb, body, &object{})
}

func extend(ackIDs []string, seconds int) error {
	if len(ackIDs) == 0 {
		return nil
	}
	return finish("modifyAckDeadline", object{"ackIds": ackIDs, "ackDeadlineSeconds": seconds})
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
	if err := json.Unmarshal(m.Data, &order); err != nil {
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

// Work may take longer than the deadline: it is moved meanwhile.
type unfinished struct {
	sync.Mutex
	ackIDs map[string]bool
}

func (u *unfinished) drop(ackID string) {
	u.Lock()
	defer u.Unlock()
	delete(u.ackIDs, ackID)
}

func (u *unfinished) extend() {
	ackIDs := []string{}
	u.Lock()
	for ackID := range u.ackIDs {
		ackIDs = append(ackIDs, ackID)
	}
	u.Unlock()
	if err := extend(ackIDs, deadline); err != nil {
		log.Print(err)
	}
}

func (u *unfinished) keep(ended chan struct{}) {
	ticker := time.NewTicker(time.Duration(deadline) * time.Second / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
			u.extend()
		}
	}
}

// What is not acknowledged comes again.
func acknowledge(handled []string) {
	if len(handled) == 0 {
		return
	}
	if err := finish("acknowledge", object{"ackIds": handled}); err != nil {
		log.Print(err)
	}
}

func handleAll(stop context.Context, l *ledger, all []received) error {
	open := &unfinished{ackIDs: map[string]bool{}}
	for _, one := range all {
		open.ackIDs[one.AckID] = true
	}
	open.extend()
	ended := make(chan struct{})
	go open.keep(ended)
	defer close(ended)

	handled := []string{}
	// also where a release failed
	defer func() { acknowledge(handled) }()
	failed := map[string]bool{} // ordering keys, of which what follows waits
	for _, one := range all {
		m := one.Message
		if stop.Err() == nil && !failed[m.OrderingKey] {
			err := l.handle(m)
			if err == nil {
				handled = append(handled, one.AckID)
				continue
			}
			log.Print(m.MessageID, " ", err)
			failed[m.OrderingKey] = m.OrderingKey != ""
		}
		open.drop(one.AckID)
		if err := extend([]string{one.AckID}, 0); err != nil { // it comes again
			return err
		}
	}
	return nil
}

func main() {
	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	name := os.Getenv("DONE")
	if name == "" {
		name = "done.txt"
	}
	if n, err := strconv.Atoi(os.Getenv("DEADLINE")); err == nil {
		deadline = n
	}
	l := open(name)

	for stop.Err() == nil {
		var answer struct{ ReceivedMessages []received }
		err := post(stop, 30*time.Second, "pull", object{"maxMessages": 10}, &answer)
		if stop.Err() == nil && err != nil {
			log.Fatal(err)
		}
		if err := handleAll(stop, l, answer.ReceivedMessages); err != nil {
			log.Print(err) // what was not released comes again, later
		}
	}
}
