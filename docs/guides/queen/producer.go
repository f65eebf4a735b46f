// Pushes each line of its input, an event such as
// {"id": "e-1", "account": "a-7", "amount": 5}: one partition for each account.
//
//	QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... go run producer.go events < lines
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

type item struct {
	Queue         string          `json:"queue"`
	Partition     string          `json:"partition"`
	TransactionID string          `json:"transactionId"`
	Payload       json.RawMessage `json:"payload"`
}

type result struct{ Status string }

var client = &http.Client{Timeout: 10 * time.Second}

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most).
func push(items []item) (results []result, err error) {
	text, err := json.Marshal(map[string][]item{"items": items})
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		pause := math.Min(0.2*math.Pow(2, float64(attempt)), 10) * (0.5 + rand.Float64()/2)
		request, err := http.NewRequest("POST", os.Getenv("QUEEN_URL")+"/api/v1/push",
			bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("QUEEN_KEY"))
		request.Header.Set("Content-Type", "application/json")
		if response, err := client.Do(request); err == nil {
			switch code := response.StatusCode; {
			case code < 300:
				err = json.NewDecoder(response.Body).Decode(&results)
			case code != 429 && code != 503:
				response.Body.Close()
				return nil, fmt.Errorf("push: %s", response.Status)
			default:
				err = fmt.Errorf("push: %s", response.Status)
				// 0 of a date, as some proxies have it
				after, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 32)
				pause = math.Max(pause, math.Min(float64(after), 60))
			}
			response.Body.Close()
			if err == nil {
				return results, nil
			}
		}
		time.Sleep(time.Duration(pause * float64(time.Second)))
	}
}

func send(items []item) {
	if len(items) == 0 {
		return
	}
	results, err := push(items)
	if err != nil {
		log.Fatal(err)
	}
	// "queued", or "duplicate" of what an earlier try, or an earlier run, has stored
	for _, result := range results {
		fmt.Println(result.Status)
	}
}

func main() {
	items := []item{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var event struct{ ID, Account string }
		payload := append(json.RawMessage{}, lines.Bytes()...)
		if err := json.Unmarshal(payload, &event); err != nil {
			log.Fatal(err)
		}
		items = append(items, item{os.Args[1], event.Account, event.ID, payload})
		if len(items) == 10 {
			send(items)
			items = items[:0]
		}
	}
	send(items)
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
