// Pops events, and pushes a receipt of each to another queue, exactly once: what
// was handled is acknowledged in the transaction that pushes what comes of it.
// SIGTERM ends it when what it has in hand is done.
//
//	QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... \
//	go run consumer.go events billing receipts
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
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

type object map[string]interface{}

type message struct {
	TransactionID string          `json:"transactionId"`
	PartitionID   string          `json:"partitionId"`
	Partition     string          `json:"partition"`
	Data          json.RawMessage `json:"data"`
}

type popped struct {
	LeaseID  string `json:"leaseId"`
	Messages []message
}

var lease = 30 // seconds

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most),
// until the context ends.
func call(ctx context.Context, timeout time.Duration, method, path string,
	body, answer interface{}) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		pause := math.Min(0.2*math.Pow(2, float64(attempt)), 10) * (0.5 + rand.Float64()/2)
		again, after, err := once(ctx, timeout, method, path, text, answer)
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

func once(ctx context.Context, timeout time.Duration, method, path string, text []byte,
	answer interface{}) (again bool, after float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method,
		os.Getenv("QUEEN_URL")+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return false, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("QUEEN_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return true, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode == 204 {
		return false, 0, nil // nothing there, and no body
	}
	if response.StatusCode < 300 {
		return true, 0, json.NewDecoder(response.Body).Decode(answer)
	}
	// 0 of a date, as some proxies have it
	seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 32)
	return response.StatusCode == 429 || response.StatusCode == 503,
		math.Min(float64(seconds), 60), fmt.Errorf("%s: %s", path, response.Status)
}

// within a minute, also when it is to stop
func post(path string, body, answer interface{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return call(ctx, 10*time.Second, "POST", path, body, answer)
}

func handle(data json.RawMessage) (object, error) {
	var event struct {
		ID      string
		Amount  *float64
		Seconds float64
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, err
	}
	if event.Amount == nil {
		return nil, errors.New("no amount")
	}
	time.Sleep(time.Duration(event.Seconds * float64(time.Second))) // your code
	return object{"id": event.ID, "charged": *event.Amount}, nil
}

// Work may take longer than the lease: it is extended meanwhile.
func extend(id string, ended chan struct{}) {
	ticker := time.NewTicker(time.Duration(lease) * time.Second / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		if err := post("/lease/"+id+"/extend", object{"seconds": lease}, &object{}); err != nil {
			log.Print(err)
		}
	}
}

func handleAll(stop context.Context, group, results string, p popped) error {
	ended := make(chan struct{})
	go extend(p.LeaseID, ended)
	defer close(ended)

	items := []object{}
	completed := map[string]object{} // the last one of each partition, which stands for all before it
	held := map[string]object{}      // the first one of each that was not handled: all behind it waits
	for _, m := range p.Messages {
		if held[m.PartitionID] != nil {
			continue
		}
		ack := object{"type": "ack", "transactionId": m.TransactionID, "leaseId": p.LeaseID,
			"partitionId": m.PartitionID, "consumerGroup": group}
		if stop.Err() != nil {
			ack["status"] = "retry"
			held[m.PartitionID] = ack
			continue
		}
		payload, err := handle(m.Data)
		if err != nil {
			ack["status"], ack["error"] = "failed", err.Error()
			held[m.PartitionID] = ack
			continue
		}
		items = append(items, object{"queue": results, "partition": m.Partition,
			"payload": payload,
			// the same when this is asked again
			"transactionId": p.LeaseID + "-" + m.TransactionID})
		ack["status"] = "completed"
		completed[m.PartitionID] = ack
	}
	if len(completed) > 0 {
		operations := []object{{"type": "push", "items": items}}
		for _, ack := range completed {
			operations = append(operations, ack)
		}
		var answer struct {
			Success       bool
			Reason, Error string
		}
		if err := post("/transaction", object{"operations": operations,
			"requiredLeases": []string{p.LeaseID}}, &answer); err != nil {
			return err
		}
		// "duplicate": an earlier try went through, and its answer was lost. All else
		// means that nothing was done, and that the messages come again.
		if !answer.Success && answer.Reason != "duplicate" {
			return errors.New(answer.Error)
		}
	}
	if len(held) == 0 {
		return nil
	}
	acks := []object{}
	for _, ack := range held {
		acks = append(acks, ack)
	}
	return post("/ack/batch", object{"consumerGroup": group, "acknowledgments": acks}, &[]object{})
}

func main() {
	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	queue, group, results := os.Args[1], os.Args[2], os.Args[3]
	if n, err := strconv.Atoi(os.Getenv("LEASE")); err == nil {
		lease = n
	}
	query := url.Values{"consumerGroup": {group}, "batch": {"10"}, "partitions": {"5"},
		"wait": {"true"}, "timeout": {"20000"}, "leaseSeconds": {strconv.Itoa(lease)}}

	for stop.Err() == nil {
		var p popped
		err := call(stop, 30*time.Second, "GET",
			"/pop/queue/"+url.PathEscape(queue)+"?"+query.Encode(), nil, &p)
		if stop.Err() == nil && err != nil {
			log.Fatal(err)
		}
		if len(p.Messages) > 0 {
			if err := handleAll(stop, group, results, p); err != nil {
				log.Print(err) // what is not acknowledged comes again
			}
		}
	}
}
